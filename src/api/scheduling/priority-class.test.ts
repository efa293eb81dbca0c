import { describe, expect, it } from "vitest";
import { faults, object } from "../apps/testing/builders.ts";
import { create, update } from "../apps/testing/run-rules.ts";
import type { JsonObject } from "../machinery/json/json.ts";
import { PriorityClass } from "./index.ts";

const priority = (rest: JsonObject, name = "x") => object("scheduling.k8s.io/v1", "PriorityClass", rest, { name });
const reserved =
  "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ";

describe("PriorityClass", () => {
  it.each<{ given: JsonObject; want: readonly string[] }>([
    { given: priority({ value: 1_000_000_000 }), want: [] },
    { given: priority({ value: 2_000_000_000 }, "system-cluster-critical"), want: [] },
    {
      given: priority({ value: 5 }, "system-node-critical"),
      want: [`${reserved}value of system-node-critical PriorityClass must be 2000001000`],
    },
    {
      given: priority({ value: 2_000_000_000, globalDefault: true }, "system-cluster-critical"),
      want: [`${reserved}globalDefault of system-cluster-critical PriorityClass must be false`],
    },
  ])("$given", ({ given, want }) => {
    expect(faults(create(PriorityClass, given))).toEqual(want);
  });

  it("keeps its value, and its generation with it", () => {
    const old = create(PriorityClass, priority({ value: 1 })).object ?? {};
    expect(faults(update(PriorityClass, old, priority({ value: 2 })))).toEqual([
      "value: Forbidden: may not be changed in an update.",
    ]);
    expect(update(PriorityClass, old, priority({ value: 1, description: "d" })).object).toMatchObject({
      description: "d",
      metadata: { generation: 1 },
    });
  });

  it("of the system cannot be deleted", () => {
    const why = (name: string) => PriorityClass.delete?.forbids?.(priority({}, name) as never);
    expect(why("system-node-critical")).toBe("this is a system priority class and cannot be deleted");
    expect(why("mine")).toBeUndefined();
  });
});
