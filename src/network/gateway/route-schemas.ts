/** The schemas of routes. Pure. */
import { table } from "#base";
import {
  backend,
  chars,
  duration,
  extension,
  headerChanges,
  headerMatch,
  hostname,
  keyed,
  list,
  mirror,
  object,
  oneOf,
  parentRefs,
  port,
  preciseHostname,
  routeStatus,
  rules,
  type Schema,
  sectionName,
  text,
} from "./schema-parts.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };
const hostnames = list(hostname, 16, atomic);

/** Each type of filter has one field. */
const FIELDS: Readonly<Record<string, string>> = table({
  RequestHeaderModifier: "requestHeaderModifier",
  ResponseHeaderModifier: "responseHeaderModifier",
  RequestMirror: "requestMirror",
  RequestRedirect: "requestRedirect",
  URLRewrite: "urlRewrite",
  ExtensionRef: "extensionRef",
});

const pathModifier = object(
  {
    type: oneOf(["ReplaceFullPath", "ReplacePrefixMatch"]),
    replaceFullPath: text({ maxLength: 1024 }),
    replacePrefixMatch: text({ maxLength: 1024 }),
  },
  ["type"],
  rules(
    [
      "self.type == 'ReplaceFullPath' ? has(self.replaceFullPath) : true",
      "replaceFullPath must be specified when type is set to 'ReplaceFullPath'",
    ],
    [
      "self.type == 'ReplacePrefixMatch' ? has(self.replacePrefixMatch) : true",
      "replacePrefixMatch must be specified when type is set to 'ReplacePrefixMatch'",
    ],
  ),
);
const FILTERS: Readonly<Record<string, Schema>> = table({
  requestHeaderModifier: headerChanges,
  responseHeaderModifier: headerChanges,
  requestMirror: mirror,
  requestRedirect: object({
    scheme: oneOf(["http", "https"]),
    hostname: preciseHostname,
    path: pathModifier,
    port: port(),
    statusCode: { type: "integer", enum: [301, 302, 303, 307, 308], default: 302 },
  }),
  urlRewrite: object({ hostname: preciseHostname, path: pathModifier }),
  extensionRef: extension,
});

function filters(types: readonly string[]): Schema {
  const fields = types.flatMap((type) => FIELDS[type] ?? []);
  const checks = types.flatMap((type): [string, string][] => [
    [
      `!(has(self.${FIELDS[type]}) && self.type != '${type}')`,
      `filter.${FIELDS[type]} must be nil if the filter.type is not ${type}`,
    ],
    [
      `!(!has(self.${FIELDS[type]}) && self.type == '${type}')`,
      `filter.${FIELDS[type]} must be specified for ${type} filter.type`,
    ],
  ]);
  const own = Object.fromEntries(fields.map((field) => [field, FILTERS[field] ?? text()]));
  return list(object({ type: oneOf(types), ...own }, ["type"], rules(...checks)), 16, atomic);
}

const spec = (ruleFields: Readonly<Record<string, Schema>>, more: object, defaults: object = {}) =>
  object({
    ...{ parentRefs, hostnames },
    rules: list(object({ name: sectionName, ...ruleFields }, [], more), 16, { ...atomic, ...defaults }),
  });

const HTTP_FILTERS = Object.keys(FIELDS);
const GRPC_FILTERS = ["RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "ExtensionRef"];
const matchPath = object(
  {
    type: oneOf(["Exact", "PathPrefix", "RegularExpression"], "PathPrefix"),
    value: text({ maxLength: 1024, default: "/" }),
  },
  [],
  {
    default: { type: "PathPrefix", value: "/" },
    ...rules(
      [
        "(self.type in ['Exact','PathPrefix']) ? self.value.startsWith('/') : true",
        "value must be an absolute path and start with '/' when type one of ['Exact', 'PathPrefix']",
      ],
      [
        "(self.type in ['Exact','PathPrefix']) ? !self.value.contains('//') : true",
        "must not contain '//' when type one of ['Exact', 'PathPrefix']",
      ],
    ),
  },
);
const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

export const httpRoute = object(
  {
    spec: spec(
      {
        matches: list(
          object({
            path: matchPath,
            headers: keyed(headerMatch, 16, "name"),
            queryParams: keyed(headerMatch, 16, "name"),
            method: oneOf(METHODS),
          }),
          64,
          { ...atomic, default: [{ path: { type: "PathPrefix", value: "/" } }] },
        ),
        filters: filters(HTTP_FILTERS),
        backendRefs: list(backend({ filters: filters(HTTP_FILTERS) }), 16, atomic),
        timeouts: object({ request: duration, backendRequest: duration }),
      },
      rules([
        "(has(self.backendRefs) && size(self.backendRefs) > 0) ? (!has(self.filters) || self.filters.all(f, !has(f.requestRedirect))) : true",
        "RequestRedirect filter must not be used together with backendRefs",
      ]),
      { default: [{ matches: [{ path: { type: "PathPrefix", value: "/" } }] }] },
    ),
    status: routeStatus,
  },
  ["spec"],
);

const grpcMethod = object(
  {
    type: oneOf(["Exact", "RegularExpression"], "Exact"),
    service: text({ maxLength: 1024 }),
    method: text({ maxLength: 1024 }),
  },
  [],
  rules([
    "has(self.type) ? has(self.service) || has(self.method) : true",
    "One or both of 'service' or 'method' must be specified",
  ]),
);

export const grpcRoute = object(
  {
    spec: spec(
      {
        matches: list(object({ method: grpcMethod, headers: keyed(headerMatch, 16, "name") }), 64, atomic),
        filters: filters(GRPC_FILTERS),
        backendRefs: list(backend({ filters: filters(GRPC_FILTERS) }), 16, atomic),
      },
      {},
    ),
    status: routeStatus,
  },
  [],
);

/** Connections: one rule, with backends only. */
const streamSpec = (more: Readonly<Record<string, Schema>>, required: readonly string[]) =>
  object(
    {
      ...{ parentRefs, ...more },
      rules: list(
        object({ name: sectionName, backendRefs: list(backend(), 16, { ...atomic, minItems: 1 }) }, ["backendRefs"]),
        1,
        { ...atomic, minItems: 1 },
      ),
    },
    ["rules", ...required],
  );

export const tlsRoute = object(
  {
    spec: streamSpec({ hostnames: list(hostname, 16, { ...atomic, minItems: 1 }) }, ["hostnames"]),
    status: routeStatus,
  },
  ["spec"],
);

export const tcpRoute = object({ spec: streamSpec({}, []), status: routeStatus }, ["spec"]);

export const referenceGrant = object({
  spec: object(
    {
      from: list(
        object({ group: chars(0, 253), kind: chars(1, 63), namespace: chars(1, 63) }, ["group", "kind", "namespace"]),
        16,
        {
          ...atomic,
          minItems: 1,
        },
      ),
      to: list(object({ group: chars(0, 253), kind: chars(1, 63), name: chars(1, 253) }, ["group", "kind"]), 16, {
        ...atomic,
        minItems: 1,
      }),
    },
    ["from", "to"],
  ),
});
