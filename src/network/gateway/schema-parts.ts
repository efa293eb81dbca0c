/**
 * Parts of the schemas of the Gateway API's kinds: names, types, limits, defaults and enums as the API documents them.
 * Pure.
 */
export interface Schema {
  readonly type: string;
  readonly [keyword: string]: unknown;
}

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DOMAIN = `${LABEL}(\\.${LABEL})*`;
const HEADER = "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$";
const DURATION = "^([0-9]{1,5}(h|m|s|ms)){1,4}$";

export const text = (more: object = {}): Schema => ({ type: "string", ...more });
export const chars = (minLength: number, maxLength: number, more: object = {}): Schema =>
  text({ minLength, maxLength, ...more });
export const oneOf = (values: readonly string[], fallback?: string): Schema =>
  text({ enum: values, ...(fallback !== undefined && { default: fallback }) });
export const number = (minimum: number, maximum: number, more: object = {}): Schema => ({
  ...{ type: "integer", format: "int32", minimum, maximum },
  ...more,
});
export const list = (items: Schema, maxItems: number, more: object = {}): Schema => ({
  ...{ type: "array", items, maxItems },
  ...more,
});
/** Each has one entry for its keys. */
export const keyed = (items: Schema, maxItems: number, ...keys: readonly string[]): Schema =>
  list(items, maxItems, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys });
export const object = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
  more: object = {},
) => ({
  ...{ type: "object", properties, ...(required.length > 0 && { required }) },
  ...more,
});
export const rules = (...all: readonly (readonly [rule: string, message: string])[]) => ({
  "x-kubernetes-validations": all.map(([rule, message]) => ({ rule, message })),
});

export const port = (more: object = {}) => number(1, 65_535, more);
export const duration = text({ pattern: DURATION });
export const hostname = chars(1, 253, { pattern: `^(\\*\\.)?${DOMAIN}$` });
export const preciseHostname = chars(1, 253, { pattern: `^${DOMAIN}$` });
const group = (fallback?: string) =>
  text({ maxLength: 253, pattern: `^$|^${DOMAIN}$`, ...(fallback !== undefined && { default: fallback }) });
const kind = (fallback?: string) =>
  chars(1, 63, {
    pattern: "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$",
    ...(fallback !== undefined && { default: fallback }),
  });
const objectName = chars(1, 253);
const namespace = chars(1, 63, { pattern: `^${LABEL}$` });
export const sectionName = chars(1, 253, { pattern: `^${DOMAIN}$` });

export { group, kind, namespace, objectName };

const time = text({ format: "date-time" });
const int64 = (more: object = {}): Schema => ({ type: "integer", format: "int64", ...more });

export const condition = object(
  {
    lastTransitionTime: time,
    message: text({ maxLength: 32_768 }),
    observedGeneration: int64({ minimum: 0 }),
    reason: chars(1, 1024, { pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" }),
    status: oneOf(["True", "False", "Unknown"]),
    type: text({
      maxLength: 316,
      pattern: `^(${DOMAIN}/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`,
    }),
  },
  ["lastTransitionTime", "message", "reason", "status", "type"],
);
export const conditions = keyed(condition, 8, "type");
export const controllerName = chars(1, 253, { pattern: `^${DOMAIN}/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$` });

const selector = object(
  {
    matchLabels: { type: "object", additionalProperties: text() },
    matchExpressions: list(
      object({ key: text(), operator: text(), values: list(text(), 4096, { "x-kubernetes-list-type": "atomic" }) }, [
        "key",
        "operator",
      ]),
      4096,
      { "x-kubernetes-list-type": "atomic" },
    ),
  },
  [],
  { "x-kubernetes-map-type": "atomic" },
);

export { selector };

const GATEWAY = "gateway.networking.k8s.io";
const PARENT = {
  ...{ group: group(GATEWAY), kind: kind("Gateway"), namespace, name: objectName, sectionName },
  port: port(),
};
export const parentReference = object(PARENT, ["name"]);
export const parentRefs = list(parentReference, 32, { "x-kubernetes-list-type": "atomic" });
export const secretReference = object({ group: group(""), kind: kind("Secret"), namespace, name: objectName }, [
  "name",
]);

const SERVICE_PORT = rules([
  "(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true",
  "Must have port for Service reference",
]);
const BACKEND = { group: group(""), kind: kind("Service"), namespace, name: objectName, port: port() };
export const backendObject = object(BACKEND, ["name"], SERVICE_PORT);
const weight = number(0, 1_000_000, { default: 1 });
/** `more`: filters of those that have some. */
export const backend = (more: Readonly<Record<string, Schema>> = {}) =>
  object({ ...BACKEND, weight, ...more }, ["name"], SERVICE_PORT);

export const headerName = chars(1, 256, { pattern: HEADER });
const header = object({ name: headerName, value: chars(1, 4096) }, ["name", "value"]);
export const headerChanges = object({
  set: keyed(header, 16, "name"),
  add: keyed(header, 16, "name"),
  remove: list(text(), 16, { "x-kubernetes-list-type": "set" }),
});
export const headerMatch = object(
  { type: oneOf(["Exact", "RegularExpression"], "Exact"), name: headerName, value: chars(1, 4096) },
  ["name", "value"],
);
export const extension = object({ group: group(), kind: kind(), name: objectName }, ["group", "kind", "name"]);
export const mirror = object(
  {
    backendRef: backendObject,
    percent: number(0, 100),
    fraction: object({ numerator: number(0, 2_147_483_647), denominator: number(1, 2_147_483_647, { default: 100 }) }, [
      "numerator",
    ]),
  },
  ["backendRef"],
  rules(["!(has(self.percent) && has(self.fraction))", "Only one of percent or fraction may be specified"]),
);

/** The status of all routes. */
export const routeStatus = object(
  {
    parents: list(
      object({ parentRef: parentReference, controllerName, conditions }, ["parentRef", "controllerName", "conditions"]),
      32,
      { "x-kubernetes-list-type": "atomic" },
    ),
  },
  ["parents"],
);
