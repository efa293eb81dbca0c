import { describe, expect, it } from "vitest";
import type { rbac } from "#api";
import { RuleTable } from "./rule-table.ts";

/** `verbs groups resources [names]`, or `verbs /paths`; `core` is the group without a name. */
function rule(text: string): rbac.PolicyRule {
  const [verbs = "", groups = "", resources = "", names] = text.split(" ");
  if (resources === "") return { verbs: verbs.split(","), nonResourceURLs: groups.split(",") };
  return {
    verbs: verbs.split(","),
    apiGroups: groups.split(",").map((group) => (group === "core" ? "" : group)),
    resources: resources.split(","),
    ...(names !== undefined && { resourceNames: names.split(",") }),
  };
}

describe("rules about resources", () => {
  it.each([
    { rules: ["get core pods"], allows: "get core pods", want: true },
    { rules: ["get core pods"], allows: "get core pods/log", want: false },
    { rules: ["get core pods/log"], allows: "get core pods/log", want: true },
    { rules: ["get core pods/log"], allows: "get core pods", want: false },
    { rules: ["get core *"], allows: "get core pods/log", want: true },
    { rules: ["get core *"], allows: "get apps pods", want: false },
    { rules: ["get * pods"], allows: "get apps pods", want: true },
    { rules: ["* core pods"], allows: "impersonate core pods", want: true },
    { rules: ["get core */log"], allows: "get core pods/log", want: true },
    { rules: ["get core */log"], allows: "get core pods", want: false },
    { rules: ["get core */log"], allows: "get core pods/logs", want: false },
    { rules: ["get core */log"], allows: "get core pods/xlog", want: false },
    { rules: ["get * */scale"], allows: "get apps deployments/scale", want: true },
    { rules: ["get core */*"], allows: "get core pods/log", want: false },
    { rules: ["get core pods/*"], allows: "get core pods/log", want: false },
    { rules: ["get core pods a,b"], allows: "get core pods b", want: true },
    { rules: ["get core pods a,b"], allows: "get core pods c", want: false },
    { rules: ["get core pods a,b"], allows: "get core pods", want: false },
    { rules: ["get core pods a", "get core pods b"], allows: "get core pods b", want: true },
    { rules: ["get core pods", "get core pods b"], allows: "get core pods c", want: true },
    { rules: ["get core pods b", "get core pods"], allows: "get core pods c", want: true },
    // Rights do not mix: each has to be whole in one rule.
    { rules: ["get core pods", "list apps deployments"], allows: "list core pods", want: false },
    { rules: ["get core pods a", "list core pods"], allows: "get core pods b", want: false },
    { rules: ["* core pods a"], allows: "get core pods b", want: false },
    // Everything is told apart by its letters.
    { rules: ["get core pods"], allows: "GET core pods", want: false },
    { rules: ["get core pods"], allows: "get core Pods", want: false },
    { rules: ["get Core pods"], allows: "get core pods", want: false },
    { rules: ["get core pods a"], allows: "get core pods A", want: false },
    // A question that says `*` asks for the right to everything.
    { rules: ["get core pods"], allows: "* core pods", want: false },
    { rules: ["get core pods"], allows: "get * pods", want: false },
    { rules: ["get core pods"], allows: "get core *", want: false },
    { rules: ["* * *"], allows: "* * *", want: true },
    { rules: ["get /pods"], allows: "get core pods", want: false },
  ])("$rules allow $allows: $want", ({ rules, allows, want }) => {
    const [verb = "", group = "", resource = "", name = ""] = allows.split(" ");
    const slash = resource.indexOf("/");
    const ofAny = slash === -1 ? "" : `*${resource.slice(slash)}`;
    const table = new RuleTable(rules.map(rule));
    expect(table.allowsResource(group === "core" ? "" : group, resource, ofAny, verb, name)).toBe(want);
  });
});

describe("rules about paths", () => {
  it.each([
    { rules: ["get /healthz"], allows: "get /healthz", want: true },
    { rules: ["get /healthz"], allows: "post /healthz", want: false },
    { rules: ["get /healthz"], allows: "get /healthz/", want: false },
    { rules: ["get /healthz"], allows: "get //healthz", want: false },
    { rules: ["get /healthz"], allows: "get /Healthz", want: false },
    { rules: ["get /healthz"], allows: "get /health%7a", want: false },
    { rules: ["get /healthz/*"], allows: "get /healthz", want: false },
    { rules: ["get /healthz/*"], allows: "get /healthz/etcd", want: true },
    { rules: ["get /health*"], allows: "get /healthz/etcd", want: true },
    { rules: ["get /health*"], allows: "get /health*", want: true },
    { rules: ["get /a/*/b"], allows: "get /a/x/b", want: false },
    { rules: ["get /a/*/b"], allows: "get /a/*/b", want: true },
    { rules: ["get /logs/*"], allows: "get /logs/../metrics", want: true },
    { rules: ["get /logs/*"], allows: "get /x/../logs/a", want: false },
    { rules: ["get *"], allows: "get /metrics", want: true },
    { rules: ["* *"], allows: "delete /metrics", want: true },
    { rules: ["get /a**"], allows: "get /abc", want: true },
    { rules: ["get core *"], allows: "get /metrics", want: false },
  ])("$rules allow $allows: $want", ({ rules, allows, want }) => {
    const [verb = "", path = ""] = allows.split(" ");
    expect(new RuleTable(rules.map(rule)).allowsPath(path, verb)).toBe(want);
  });
});

it("rules that leave things out allow nothing", () => {
  const table = new RuleTable([{ verbs: ["*"] }, { verbs: null } as unknown as rbac.PolicyRule]);
  expect(table.allowsResource("", "pods", "", "get", "")).toBe(false);
  expect(table.allowsPath("/", "get")).toBe(false);
});
