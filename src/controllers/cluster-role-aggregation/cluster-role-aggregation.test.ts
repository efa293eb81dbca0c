import { afterEach, describe, expect, it } from "vitest";
import { kinds, type rbac } from "#api";
import { testControllers } from "../testing/index.ts";
import { aggregatedRules, clusterRoleAggregation } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const reads = (resource: string) => ({ apiGroups: [""], resources: [resource], verbs: ["get"] });
const role = (name: string, labels: Record<string, string>, ...resources: string[]): rbac.ClusterRole => ({
  metadata: { name, labels },
  rules: resources.map(reads),
});
const all: rbac.ClusterRole = {
  metadata: { name: "all" },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: "a" } }, { matchLabels: { part: "b" } }] },
  rules: [],
};

describe("aggregated roles", () => {
  it.each([
    {
      name: "by name within a selector",
      others: [role("y", { part: "a" }, "pods"), role("x", { part: "a" }, "secrets")],
      want: ["secrets", "pods"],
    },
    {
      name: "selector by selector",
      others: [role("x", { part: "b" }, "pods"), role("y", { part: "a" }, "secrets")],
      want: ["secrets", "pods"],
    },
    {
      name: "a rule once",
      others: [role("x", { part: "a" }, "pods"), role("y", { part: "b" }, "pods")],
      want: ["pods"],
    },
    { name: "not what is not selected", others: [role("x", { part: "c" }, "pods")], want: [] },
    {
      name: "not itself",
      others: [{ ...all, metadata: { name: "all", labels: { part: "a" } }, rules: [reads("pods")] }],
      want: [],
    },
  ])("$name", ({ others, want }) => {
    expect(aggregatedRules(all, others).map(({ resources }) => resources?.[0])).toEqual(want);
  });

  it("follow the roles that they select", async () => {
    const { client, settle, ...running } = await testControllers([clusterRoleAggregation]);
    open.push(() => running.close());
    const roles = client.of(kinds.ClusterRole);
    await roles.create(all);
    await roles.create(role("x", { part: "a" }, "pods"));
    await settle();
    expect((await roles.get("all")).rules).toEqual([reads("pods")]);
    await roles.delete("x");
    await settle();
    expect((await roles.get("all")).rules ?? []).toEqual([]);
  });
});
