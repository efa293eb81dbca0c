import { describe, expect, it } from "vitest";
import type { rbac } from "#api";
import { covers, missing } from "./reconcile.ts";
import { parseRoles } from "./role-text.ts";

const rulesOf = (text: string): readonly rbac.PolicyRule[] =>
  parseRoles(`role\n${text.replaceAll(/^/gm, "  ")}`)[0]?.rules ?? [];

describe("a rule is covered", () => {
  it.each([
    { rule: "get core pods", by: "get core pods", want: true },
    { rule: "get core pods", by: "read core,apps pods,services", want: true },
    { rule: "read core pods", by: "get,list core pods\nwatch core pods", want: true },
    { rule: "read core pods", by: "get,list core pods", want: false },
    { rule: "get apps deployments", by: "* * *", want: true },
    { rule: "get apps deployments/scale", by: "get apps */scale", want: true },
    { rule: "get core pods", by: "get core pods one", want: false },
    { rule: "get core pods one", by: "get core pods", want: true },
    { rule: "get core pods one", by: "get core pods two", want: false },
    { rule: "get /healthz", by: "get /health*", want: true },
    { rule: "get /healthz", by: "get core healthz", want: false },
  ])("$rule by $by: $want", ({ rule, by, want }) => {
    const [wanted] = rulesOf(rule);
    expect(wanted && covers(rulesOf(by), wanted)).toBe(want);
  });
});

describe("a binding", () => {
  const binding = (names: readonly string[], annotation = "true"): rbac.ClusterRoleBinding => ({
    metadata: { name: "b", annotations: { "rbac.authorization.kubernetes.io/autoupdate": annotation } },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
    subjects: names.map((name) => ({ kind: "User", apiGroup: "rbac.authorization.k8s.io", name })),
  });

  it.each([
    { found: binding(["x"]), want: ["x", "a"] },
    { found: binding(["a", "x"]), want: undefined },
    { found: binding([], "false"), want: undefined },
  ])("gains the subjects that it lacks", ({ found, want }) => {
    const next = missing(
      { ...binding(["a"]), metadata: { ...found.metadata, labels: {} } },
      { ...found, metadata: { ...found.metadata, labels: {} } },
    );
    expect(next?.subjects?.map(({ name }) => name)).toEqual(want);
  });
});
