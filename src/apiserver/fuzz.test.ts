/**
 * Random objects of every kind, valid and not, through create, update, the four patches and apply: nothing crashes,
 * nothing is answered with 500, what is accepted is accepted again, and every form of it says the same.
 *
 * K8TS_FUZZ_SECONDS=600 runs for as long as that, from another seed each time; K8TS_FUZZ_SEED repeats one. A failure
 * prints its seed, and the shortest story that has it.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiVersionOf, builtIn, type JsonObject, type Kind, type ObjectSchema, type Schema } from "#api";
import { makeRequest } from "../pki/testing/request.ts";
import { DEFINITIONS, definition } from "./custom-resources/testing/index.ts";
import { type FuzzedKind, runFuzzCase } from "./testing/fuzz/fuzz-case.ts";
import { samples } from "./testing/samples.ts";

const SEED = 20261118;
const SECONDS = Number(process.env.K8TS_FUZZ_SECONDS ?? 0);
const given = process.env.K8TS_FUZZ_SEED;
const seed = given === undefined ? (SECONDS > 0 ? Date.now() % 2 ** 31 : SEED) : Number(given);
const RUNS_OF_KIND = 8;

const bodies = samples({ certificateRequestPem: makeRequest({ commonName: "jane" }).pem });

function fuzzed(kind: Kind): FuzzedKind {
  const apiVersion = apiVersionOf(kind);
  const root = kind.group === "" ? "/api/v1" : `/apis/${apiVersion}`;
  const collection = `${root}${kind.scope === "Namespaced" ? "/namespaces/default" : ""}/${kind.names.plural}`;
  const sample = {
    apiVersion,
    kind: kind.kind,
    metadata: { name: "sample" },
    ...bodies.get(`${apiVersion} ${kind.kind}`),
  };
  return { kind, apiVersion, collection, schema: kind.schema, sample: sample as unknown as JsonObject };
}

const fields = (types: Readonly<Record<string, Schema>>): ObjectSchema => ({
  type: "object",
  fields: new Map(
    Object.entries(types).map(([name, schema]) => [
      name,
      { name, schema, number: 0, required: false, pointer: true, omit: "empty" },
    ]),
  ),
});

/** As the schema of the definition below has it. */
const widgetSchema = fields({
  metadata: builtIn[0]?.schema.fields.get("metadata")?.schema ?? { type: "any" },
  spec: fields({
    size: { type: "int64" },
    ratio: { type: "double" },
    name: { type: "string" },
    port: { type: "intOrString" },
    set: { type: "list", listType: "set", keys: [], items: { type: "int64" } },
    parts: {
      type: "list",
      listType: "map",
      keys: ["id"],
      items: fields({ id: { type: "int64" }, note: { type: "string" } }),
    },
    free: { type: "any" },
  }),
  status: fields({ size: { type: "int64" } }),
});
const widgetOpenApi = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", format: "int64", maximum: 2 ** 31, default: 3 },
        ratio: { type: "number", multipleOf: 0.5 },
        name: { type: "string", maxLength: 20, pattern: "^[a-z]*$", nullable: true },
        port: { "x-kubernetes-int-or-string": true },
        set: { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set", maxItems: 10 },
        parts: {
          type: "array",
          maxItems: 10,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["id"],
          items: {
            type: "object",
            required: ["id"],
            properties: { id: { type: "integer" }, note: { type: "string", default: "none" } },
          },
        },
        free: { "x-kubernetes-preserve-unknown-fields": true },
      },
      "x-kubernetes-validations": [
        { rule: "!has(self.size) || self.size >= 0", messageExpression: "'no size ' + self.name" },
        { rule: "!has(self.parts) || self.parts.all(p, p.id != self.size)" },
      ],
    },
    status: { type: "object", properties: { size: { type: "integer" } } },
  },
};
const subresources = { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } };
const widgets: FuzzedKind = {
  kind: { kind: "Widget", verbs: ["create", "get", "update", "patch"], subresources: { status: true } },
  apiVersion: "example.com/v1",
  collection: "/apis/example.com/v1/namespaces/default/widgets",
  schema: widgetSchema,
  sample: {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name: "sample" },
    spec: { size: 1, ratio: 0.5, name: "a", port: "http", set: [1], parts: [{ id: 2, note: "x" }], free: { a: [1] } },
  },
  before: [
    [
      DEFINITIONS,
      definition({
        versions: [{ name: "v1", storage: true, schema: widgetOpenApi, subresources }],
      }) as unknown as JsonObject,
    ],
  ],
};

const stored = builtIn.filter(({ verbs }) => verbs.includes("create") && verbs.includes("get"));
const all = [...stored.map(fuzzed), widgets];

const seeds = (maxLength: number) => fc.array(fc.noShrink(fc.nat()), { maxLength });
const plans = fc.record({ edits: seeds(4), writes: seeds(8) });

describe("random objects", () => {
  it.each(all.map((each) => [`${each.apiVersion} ${each.kind.kind}`, each] as const))(
    "%s",
    async (_, each) => {
      await fc.assert(
        fc.asyncProperty(plans, async (plan) => void (await runFuzzCase(each, plan))),
        SECONDS > 0
          ? { seed, numRuns: 1_000_000, interruptAfterTimeLimit: (SECONDS * 1000) / all.length }
          : { seed, numRuns: RUNS_OF_KIND },
      );
    },
    120_000 + SECONDS * 1000,
  );

  it("include valid ones of every kind", async () => {
    const refused: string[] = [];
    for (const each of all)
      if (!(await runFuzzCase(each, { edits: [], writes: [] }))) refused.push(`${each.apiVersion} ${each.kind.kind}`);
    expect(refused).toEqual([]);
  });
});
