import { describe, expect, it } from "vitest";
import { changeFaults, create, faults } from "../testing/pure-server.ts";
import { ClusterRole } from "./role.ts";
import { ClusterRoleBinding, RoleBinding } from "./role-binding.ts";

const roleRef = { kind: "ClusterRole", name: "view" };
const group = "rbac.authorization.k8s.io";

describe("bindings", () => {
  it("fill in the group of roles and people", () => {
    const subjects = [
      { kind: "User", name: "u" },
      { kind: "ServiceAccount", name: "s", namespace: "n" },
    ];
    expect(create(RoleBinding, { metadata: { name: "one" }, roleRef, subjects }).object).toMatchObject({
      roleRef: { apiGroup: group },
      subjects: [{ apiGroup: group }, { name: "s", namespace: "n" }],
    });
  });

  it.each<[object, readonly string[]]>([
    [
      { roleRef: { kind: "Role", name: "r" } },
      ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
    ],
    [{ roleRef: { kind: "ClusterRole", name: "" } }, ["roleRef.name: Required value"]],
    [{ roleRef, subjects: [{ kind: "ServiceAccount", name: "s" }] }, ["subjects[0].namespace: Required value"]],
    [
      { roleRef, subjects: [{ kind: "Robot", name: "r" }] },
      ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
    ],
    [
      { roleRef, subjects: [{ kind: "User", name: "u", apiGroup: "x" }] },
      [`subjects[0].apiGroup: Unsupported value: "x": supported values: "${group}"`],
    ],
  ])("%j", (body, want) => expect(faults(ClusterRoleBinding, body as never)).toEqual(want));

  it("keep their role", () => {
    expect(changeFaults(RoleBinding, { roleRef }, { roleRef: { ...roleRef, name: "edit" } })).toEqual([
      `roleRef: Invalid value: {"APIGroup":"${group}","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef`,
    ]);
  });
});

it("a ClusterRole may speak of paths, and be made of others", () => {
  expect(faults(ClusterRole, { rules: [{ verbs: ["get"], nonResourceURLs: ["/healthz"] }] })).toEqual([]);
  expect(faults(ClusterRole, { aggregationRule: {} })).toEqual([
    "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
  ]);
  const selector = { matchExpressions: [{ key: "k", operator: "Exists", values: ["x"] }] };
  expect(faults(ClusterRole, { aggregationRule: { clusterRoleSelectors: [{}, selector] } })).toEqual([
    "aggregationRule.clusterRoleSelectors[1].matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    "aggregationRule.clusterRoleSelectors[1]: Invalid value: null: invalid label selector.",
  ]);
});
