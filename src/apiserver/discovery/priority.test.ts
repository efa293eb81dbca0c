import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { compareVersionNames, defaultPriority } from "./priority.ts";

const recorded = fileURLToPath(
  new URL("../../../../shared/reference/bootstrap/apiserver-only/apiservices.json", import.meta.url),
);

describe("version names", () => {
  it("have the documented order", () => {
    const order = "v10 v2 v1 v11beta2 v10beta3 v3beta1 v12alpha1 v11alpha2 foo1 foo10".split(" ");
    expect([...order].reverse().sort(compareVersionNames)).toEqual(order);
  });
});

describe("priorities", () => {
  it("are low for APIs that nobody knows", () => {
    expect(defaultPriority("example.com", "v1")).toEqual({ group: 1000, version: 100 });
  });

  it.skipIf(!existsSync(recorded))("are those of a real server's APIServices", () => {
    interface Item {
      readonly spec: { group?: string; version: string; groupPriorityMinimum: number; versionPriority: number };
    }
    const { items } = JSON.parse(readFileSync(recorded, "utf8")) as { items: Item[] };
    expect(items.length).toBeGreaterThan(20);
    for (const { spec } of items) {
      const want = { group: spec.groupPriorityMinimum, version: spec.versionPriority };
      expect([spec.group, defaultPriority(spec.group ?? "", spec.version)]).toEqual([spec.group, want]);
    }
  });
});
