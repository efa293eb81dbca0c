/**
 * The CustomResourceDefinitions of the Gateway API for the kinds that are served here. Pure; `installDefinitions` makes
 * those that do not exist.
 *
 * 1. Fields that are not served are not in the schemas: the API server says so, instead of dropping them silently.
 */
import { type apiextensions, kinds } from "#api";
import { type Client, createUnlessThere } from "#client";
import { backendTlsPolicy } from "./policy-schema.ts";
import { grpcRoute, httpRoute, referenceGrant, tcpRoute, tlsRoute } from "./route-schemas.ts";
import {
  chars,
  conditions,
  controllerName,
  group,
  hostname,
  keyed,
  kind,
  list,
  namespace,
  number,
  object,
  objectName,
  oneOf,
  port,
  rules,
  type Schema,
  secretReference,
  sectionName,
  selector,
  text,
} from "./schema-parts.ts";

const GROUP = "gateway.networking.k8s.io";
type Definition = apiextensions.CustomResourceDefinition;

const gatewayClass = object(
  {
    spec: object(
      {
        controllerName,
        description: text({ maxLength: 64 }),
        parametersRef: object({ group: group(), kind: kind(), name: objectName, namespace }, ["group", "kind", "name"]),
      },
      ["controllerName"],
      rules(["self.controllerName == oldSelf.controllerName", "Value is immutable"]),
    ),
    status: object({
      conditions,
      supportedFeatures: keyed(object({ name: text() }, ["name"]), 64, "name"),
    }),
  },
  ["spec"],
);

const routeKind = object({ group: group(GROUP), kind: kind() }, ["kind"]);
const listener = object(
  {
    name: sectionName,
    hostname,
    port: port(),
    protocol: chars(1, 255),
    tls: object({
      mode: oneOf(["Terminate", "Passthrough"], "Terminate"),
      certificateRefs: list(secretReference, 64, { "x-kubernetes-list-type": "atomic" }),
      options: { type: "object", additionalProperties: text({ maxLength: 4096 }), maxProperties: 16 },
    }),
    allowedRoutes: object(
      {
        namespaces: object({ from: oneOf(["All", "Selector", "Same", "None"], "Same"), selector }, [], {
          default: { from: "Same" },
        }),
        kinds: list(routeKind, 8, { "x-kubernetes-list-type": "atomic" }),
      },
      [],
      { default: { namespaces: { from: "Same" } } },
    ),
  },
  ["name", "port", "protocol"],
);
const address = object({ type: chars(1, 253, { default: "IPAddress" }), value: chars(1, 253) }, ["value"]);

const gateway = object(
  {
    spec: object(
      {
        gatewayClassName: objectName,
        listeners: {
          ...keyed(listener, 64, "name"),
          minItems: 1,
          ...rules(
            [
              "self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)",
              "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
            ],
            [
              "self.all(l, l.protocol in ['TCP', 'UDP']  ? (!has(l.hostname) || l.hostname == '') : true)",
              "hostname must not be specified for protocols ['TCP', 'UDP']",
            ],
            [
              "self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && (has(l1.hostname) && has(l2.hostname) ? l1.hostname == l2.hostname : !has(l1.hostname) && !has(l2.hostname))))",
              "Combination of port, protocol and hostname must be unique for each listener",
            ],
          ),
        },
        addresses: list(address, 16, { "x-kubernetes-list-type": "atomic" }),
        infrastructure: object({
          labels: { type: "object", additionalProperties: text({ maxLength: 63 }), maxProperties: 8 },
          annotations: { type: "object", additionalProperties: text({ maxLength: 4096 }), maxProperties: 8 },
        }),
      },
      ["gatewayClassName", "listeners"],
    ),
    status: object({
      addresses: list(address, 16, { "x-kubernetes-list-type": "atomic" }),
      conditions,
      listeners: keyed(
        object(
          {
            name: sectionName,
            supportedKinds: list(routeKind, 8, { "x-kubernetes-list-type": "atomic" }),
            attachedRoutes: number(0, 2_147_483_647),
            conditions,
          },
          ["name", "attachedRoutes", "conditions"],
        ),
        64,
        "name",
      ),
    }),
  },
  ["spec"],
);

interface Made {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly scope?: "Cluster" | "Namespaced";
  /** The stored one first. */
  readonly versions: readonly string[];
  readonly schema: Schema;
  readonly columns?: readonly (readonly [name: string, type: string, path: string])[];
}

const AGE = ["Age", "date", ".metadata.creationTimestamp"] as const;
const HOSTS = ["Hostnames", "string", ".spec.hostnames"] as const;
const KINDS: readonly Made[] = [
  {
    ...{
      kind: "GatewayClass",
      plural: "gatewayclasses",
      shortNames: ["gc"],
      scope: "Cluster",
      versions: ["v1", "v1beta1"],
    },
    schema: gatewayClass,
    columns: [
      ["Controller", "string", ".spec.controllerName"],
      ["Accepted", "string", '.status.conditions[?(@.type=="Accepted")].status'],
      AGE,
    ],
  },
  {
    ...{ kind: "Gateway", plural: "gateways", shortNames: ["gtw"], versions: ["v1", "v1beta1"], schema: gateway },
    columns: [
      ["Class", "string", ".spec.gatewayClassName"],
      ["Address", "string", ".status.addresses[*].value"],
      ["Programmed", "string", '.status.conditions[?(@.type=="Programmed")].status'],
      AGE,
    ],
  },
  { kind: "HTTPRoute", plural: "httproutes", versions: ["v1", "v1beta1"], schema: httpRoute, columns: [HOSTS, AGE] },
  { kind: "GRPCRoute", plural: "grpcroutes", versions: ["v1"], schema: grpcRoute, columns: [HOSTS, AGE] },
  { kind: "TLSRoute", plural: "tlsroutes", versions: ["v1"], schema: tlsRoute, columns: [HOSTS, AGE] },
  { kind: "TCPRoute", plural: "tcproutes", versions: ["v1alpha2"], schema: tcpRoute, columns: [AGE] },
  {
    ...{ kind: "BackendTLSPolicy", plural: "backendtlspolicies", shortNames: ["btlspolicy"], versions: ["v1"] },
    ...{ schema: backendTlsPolicy, columns: [AGE] },
  },
  {
    ...{ kind: "ReferenceGrant", plural: "referencegrants", shortNames: ["refgrant"], versions: ["v1beta1"] },
    ...{ schema: referenceGrant, columns: [AGE] },
  },
];

export const GATEWAY_DEFINITIONS: readonly Definition[] = KINDS.map(definition);

function definition({
  kind: name,
  plural,
  shortNames,
  scope = "Namespaced",
  versions,
  schema,
  columns = [],
}: Made): Definition {
  const { properties, ...more } = schema as Schema & { readonly properties: Readonly<Record<string, Schema>> };
  const openAPIV3Schema = {
    ...more,
    properties: { apiVersion: text(), kind: text(), metadata: { type: "object" }, ...properties },
  };
  const hasStatus = "status" in properties;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${GROUP}`,
      // The group is protected: the served kinds are those of the project, with our own schemas.
      annotations: { "api-approved.kubernetes.io": "unapproved, schemas of k8ts for the kinds that it serves" },
      labels: { "app.kubernetes.io/managed-by": "k8ts" },
    },
    spec: {
      group: GROUP,
      scope,
      names: {
        ...{ kind: name, listKind: `${name}List`, plural, singular: name.toLowerCase(), categories: ["gateway-api"] },
        ...(shortNames !== undefined && { shortNames }),
      },
      versions: versions.map((version, at) => ({
        ...{ name: version, served: true, storage: at === 0 },
        schema: { openAPIV3Schema: openAPIV3Schema as never },
        ...(hasStatus && { subresources: { status: {} } }),
        additionalPrinterColumns: columns.map(([column, type, jsonPath]) => ({ name: column, type, jsonPath })),
      })),
    },
  };
}

/** Existing ones are left as they are. */
export async function installDefinitions(client: Client, signal: AbortSignal): Promise<void> {
  for (const each of GATEWAY_DEFINITIONS)
    await createUnlessThere(client.of(kinds.CustomResourceDefinition), each, { signal });
}
