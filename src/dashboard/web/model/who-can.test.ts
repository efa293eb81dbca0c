import { describe, expect, it } from "vitest";
import { doubtAbout, type Rules, resourceNamed, type Wanted, whoCan } from "./who-can.ts";

const rule = (verbs: string[], resources: string[], more: object = {}) => ({
  verbs,
  apiGroups: [""],
  resources,
  ...more,
});
const subject = (words: string) => {
  const [kind = "", name = "", namespace] = words.split(" ");
  return { kind, name, ...(namespace !== undefined && { namespace }) };
};
const binding = (name: string, roleRef: string, subjects: string[], namespace?: string) => {
  const [kind = "", role = ""] = roleRef.split(" ");
  return {
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: role },
    subjects: subjects.map(subject),
  };
};

const rules: Rules = {
  clusterRoles: [
    { metadata: { name: "admin" }, rules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] },
    { metadata: { name: "reader" }, rules: [rule(["get", "list"], ["pods"])] },
    { metadata: { name: "logs" }, rules: [rule(["get"], ["*/log"])] },
  ],
  roles: [
    { metadata: { name: "one", namespace: "a" }, rules: [rule(["get"], ["pods"], { resourceNames: ["web"] })] },
    { metadata: { name: "ghost", namespace: "b" }, rules: [rule(["delete"], ["pods"])] },
  ],
  clusterRoleBindings: [
    binding("admins", "ClusterRole admin", ["Group masters"]),
    binding("logs", "ClusterRole logs", ["User lea"]),
  ],
  roleBindings: [
    binding("readers", "ClusterRole reader", ["User jane", "ServiceAccount bot a"], "a"),
    binding("named", "Role one", ["User jim"], "a"),
    binding("missing", "Role ghost", ["User dan"], "a"),
  ],
};

describe("who can", () => {
  it.each<[Partial<Wanted>, string[]]>([
    [{}, ["Group masters"]],
    [{ namespace: "a" }, ["Group masters", "ServiceAccount bot", "User jane"]],
    [{ namespace: "a", name: "web" }, ["Group masters", "ServiceAccount bot", "User jane", "User jim"]],
    [{ namespace: "b" }, ["Group masters"]],
    [{ namespace: "a", verb: "delete" }, ["Group masters"]],
    [{ namespace: "a", resource: "pods/log" }, ["Group masters", "User lea"]],
    [{ namespace: "a", group: "apps" }, ["Group masters"]],
  ])("%j", (asked, want) => {
    const wanted = { verb: "get", group: "", resource: "pods", namespace: "", name: "", ...asked };
    expect(whoCan(wanted, rules).map(({ kind, name }) => `${kind} ${name}`)).toEqual(want);
  });

  it("says through what", () => {
    const found = whoCan({ verb: "get", group: "", resource: "pods", namespace: "a", name: "" }, rules);
    expect(found.find(({ name }) => name === "jane")?.through).toEqual([
      { binding: "RoleBinding readers", role: "ClusterRole reader", namespace: "a" },
    ]);
  });
});

const accessible = [
  { name: "pods", verbs: ["get", "list"] },
  { name: "deployments.apps", verbs: ["get"] },
  { name: "deployments.apps/scale", verbs: ["get", "update"] },
];

it.each([
  ["get", "pods", undefined],
  ["*", "nothing", undefined],
  ["impersonate", "users", undefined],
  ["bind", "clusterroles.rbac.authorization.k8s.io", undefined],
  ["update", "deployments.apps/scale", undefined],
  ["get", "pod", "The server has no resource “pod”"],
  ["get", "deployments", "The server has no resource “deployments”: “deployments.apps”?"],
  ["delete", "pods", "“pods” has no verb “delete”: it has get, list."],
  ["impersonate", "pods", "“pods” has no verb “impersonate”: it has get, list."],
])("doubts that anybody can %s %s: %s", (verb, resource, words) => {
  expect(doubtAbout(verb, resource, accessible)).toBe(words);
});

it("reads a subresource of a group", () => {
  expect(resourceNamed("deployments.apps/scale")).toEqual({ plural: "deployments/scale", group: "apps" });
  expect(resourceNamed("pods")).toEqual({ plural: "pods", group: "" });
});
