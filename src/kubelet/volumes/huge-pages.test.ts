import { expect, it } from "vitest";
import type { core } from "#api";
import { hugePageSize } from "./huge-pages.ts";

const asking = (...names: readonly string[]): core.Pod => ({
  metadata: { name: "web" },
  spec: {
    containers: [{ name: "app", resources: { requests: Object.fromEntries(names.map((each) => [each, "4Mi"])) } }],
  },
});

it.each([
  ["", ["hugepages-2Mi"], undefined],
  ["Memory", [], undefined],
  ["HugePages", ["hugepages-2Mi"], "2M"],
  ["HugePages-1Gi", ["hugepages-2Mi", "hugepages-1Gi"], "1G"],
])("medium %j of a Pod that asks for %j has pages of %s", (medium, names, want) =>
  expect(hugePageSize(asking(...names), medium)).toBe(want),
);

it.each([
  ["HugePages", ["hugepages-2Mi", "hugepages-1Gi"], "huge pages of several sizes"],
  ["HugePages", [], "asks for no huge pages of medium HugePages"],
  ["HugePages-1Gi", ["hugepages-2Mi"], "asks for no huge pages of medium HugePages-1Gi"],
])("medium %j of a Pod that asks for %j is refused", (medium, names, problem) =>
  expect(() => hugePageSize(asking(...names), medium)).toThrow(problem),
);
