/** An input that grows: the request that has it, and what has to exist before. */
import type { JsonObject } from "#api";
import { DEFINITIONS, definition } from "../../custom-resources/testing/index.ts";

export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
export const PODS = "/api/v1/namespaces/default/pods";
export const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
export const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";

export interface Input {
  readonly name: string;
  /** The size to begin with. */
  readonly size: number;
  /** The largest size that is grown tenfold. */
  readonly most?: number;
  readonly method: string;
  readonly path: string | ((size: number) => string);
  /** Default: application/json. */
  readonly type?: string;
  readonly accept?: string;
  readonly body?: (size: number) => object | string | Buffer;
  /** Sent once for each size. */
  readonly before?: (size: number) => readonly { readonly path: string; readonly body: object }[];
  /** Of the answer. A case that is refused measures how it is refused. */
  readonly status: number;
}

export const DRY_RUN = "?dryRun=All";

export function upTo(most: number, input: Input): Input {
  return { ...input, most };
}

/** A name for each size. */
export const named = (size: number) => `n${size}`;

export const times = <T>(size: number, make: (at: number) => T): T[] =>
  Array.from({ length: size }, (_, at) => make(at));

/** Keys in no order: what sorts by inserting is slow for these. */
export const keyed = <T>(size: number, make: (at: number) => T): Record<string, T> =>
  Object.fromEntries(times(size, (at) => [`k${scattered(at)}`, make(at)]));

export function scattered(at: number): number {
  return (at * 7919 + 13) % 1_000_003;
}

export const pod = (name: string, spec: object, container: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "main", image: "registry.example/app:1", ...container }], ...spec },
});

export const nested = (depth: number, inner = "1") => `${'{"a":'.repeat(depth)}${inner}${"}".repeat(depth)}`;

const text = { type: "string" };
const items = { type: "object", required: ["name"], properties: { name: text, value: text } };

/** Lists of each type, a part without a schema, and a list with a rule. */
export const widgetDefinition: { readonly path: string; readonly body: JsonObject } = {
  path: DEFINITIONS,
  body: definition({
    versions: [
      {
        name: "v1",
        storage: true,
        schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: {
                set: { type: "array", items: text, "x-kubernetes-list-type": "set" },
                list: {
                  type: "array",
                  items,
                  "x-kubernetes-list-type": "map",
                  "x-kubernetes-list-map-keys": ["name"],
                },
                atomic: { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "atomic" },
                map: { type: "object", additionalProperties: text },
                maps: { type: "object", additionalProperties: { type: "object", additionalProperties: text } },
                free: { "x-kubernetes-preserve-unknown-fields": true },
                ruled: {
                  type: "array",
                  maxItems: 200_000,
                  items: { type: "integer" },
                  "x-kubernetes-validations": [{ rule: "self.all(x, x < 1000000)" }],
                },
              },
            },
          },
        },
        additionalPrinterColumns: [{ name: "Set", type: "string", jsonPath: ".spec.set" }],
      },
    ],
  }) as unknown as JsonObject,
};

export const widget = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name, ...metadata },
  spec,
});
