import { describe, expect, it } from "vitest";
import { faults, object } from "../apps/testing/builders.ts";
import { create, update } from "../apps/testing/run-rules.ts";
import type { JsonObject } from "../machinery/json/json.ts";
import { RuntimeClass } from "./index.ts";

const runtimeClass = (rest: JsonObject) => object("node.k8s.io/v1", "RuntimeClass", { handler: "runc", ...rest });

describe("RuntimeClass", () => {
  const toleration = { key: "a", operator: "Exists" };
  it.each<{ name: string; given: JsonObject; want: readonly RegExp[] }>([
    { name: "a handler is enough", given: {}, want: [] },
    {
      name: "the handler is a label",
      given: { handler: "Run_C" },
      want: [/^handler: Invalid value: "Run_C": a lowercase RFC 1123 label/],
    },
    {
      name: "overheads are amounts of resources",
      given: { overhead: { podFixed: { cpu: "-1" } } },
      want: [/^overhead\.limits\[cpu\]: Invalid value: "-1": must be greater than or equal to 0$/],
    },
    {
      name: "node selectors are labels",
      given: { scheduling: { nodeSelector: { "a b": "c" } } },
      want: [/^scheduling\.nodeSelector: Invalid value: "a b": name part must consist of/],
    },
    {
      name: "tolerations are reported once",
      given: { scheduling: { tolerations: [toleration, { ...toleration, key: "b" }, toleration] } },
      want: [/^scheduling\.tolerations\[2\]: Duplicate value/],
    },
  ])("$name", ({ given, want }) => {
    const found = faults(create(RuntimeClass, runtimeClass(given)));
    expect(found).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
  });

  it("never changes its handler", () => {
    const old = create(RuntimeClass, runtimeClass({})).object ?? {};
    expect(faults(update(RuntimeClass, old, runtimeClass({ handler: "kata" })))).toEqual([
      'handler: Invalid value: "kata": field is immutable',
    ]);
  });
});
