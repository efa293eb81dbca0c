import { describe, expect, it } from "vitest";
import { requestInfo } from "../http/request-info.ts";
import { compilePolicy } from "./policy.ts";
import { AuditConfigError, parsePolicy } from "./policy-file.ts";

const policy = (rules: string) =>
  parsePolicy(`{kind: Policy, apiVersion: audit.k8s.io/v1, rules: ${rules}}`, "policy.yaml");
const user = { name: "ann", groups: ["devs", "system:authenticated"] };

function level(rules: string, request: string, who: typeof user | undefined = user): string {
  const [method = "", url = ""] = request.split(" ");
  const [path = "", query = ""] = url.split("?");
  return compilePolicy(policy(rules).policy)(who, requestInfo(method, path, new URLSearchParams(query))).level;
}

describe("which rule is a request's", () => {
  const pod = "GET /api/v1/namespaces/a/pods/x";
  const log = "GET /api/v1/namespaces/a/pods/x/log";
  it.each<[string, string, string]>([
    ["[{level: Metadata}]", pod, "Metadata"],
    ["[{level: None, verbs: [get]}, {level: Request}]", pod, "None"],
    ["[{level: None, verbs: [list]}, {level: Request}]", pod, "Request"],
    ["[{level: Metadata, users: [bob]}]", pod, "None"],
    ["[{level: Metadata, users: [bob, ann]}]", pod, "Metadata"],
    ["[{level: Metadata, userGroups: [devs]}]", pod, "Metadata"],
    ["[{level: Metadata, userGroups: [ops]}]", pod, "None"],
    ["[{level: Metadata, namespaces: [a]}]", pod, "Metadata"],
    ["[{level: Metadata, namespaces: ['']}]", "GET /api/v1/nodes", "Metadata"],
    ["[{level: Metadata, namespaces: ['']}]", pod, "None"],
    ["[{level: Metadata, namespaces: [a]}]", "GET /version", "None"],
    ["[{level: Metadata, resources: [{group: ''}]}]", pod, "Metadata"],
    ["[{level: Metadata, resources: [{group: apps}]}]", pod, "None"],
    ["[{level: Metadata, resources: [{group: '*', resources: [pods]}]}]", pod, "Metadata"],
    ["[{level: Metadata, resources: [{group: '', resources: [pods]}]}]", log, "None"],
    ["[{level: Metadata, resources: [{group: '', resources: [pods/log]}]}]", log, "Metadata"],
    ["[{level: Metadata, resources: [{group: '', resources: [pods/*]}]}]", log, "Metadata"],
    ["[{level: Metadata, resources: [{group: '', resources: ['*/log']}]}]", log, "Metadata"],
    ["[{level: Metadata, resources: [{group: '', resources: ['*/log']}]}]", pod, "None"],
    ["[{level: Metadata, resources: [{group: '', resources: ['*']}]}]", log, "Metadata"],
    ["[{level: Metadata, resources: [{group: '', resources: [pods], resourceNames: [x]}]}]", pod, "Metadata"],
    ["[{level: Metadata, resources: [{group: '', resources: [pods], resourceNames: [z]}]}]", pod, "None"],
    ["[{level: Metadata, nonResourceURLs: [/version]}]", "GET /version", "Metadata"],
    ["[{level: Metadata, nonResourceURLs: ['/health*']}]", "GET /healthz/ping", "Metadata"],
    ["[{level: Metadata, nonResourceURLs: ['*']}]", "GET /x", "Metadata"],
    ["[{level: Metadata, nonResourceURLs: ['*']}]", pod, "None"],
  ])("%s, %s: %s", (rules, request, want) => expect(level(rules, request)).toBe(want));

  it("matches nobody by name who could not show who it is", () => {
    expect(level("[{level: Metadata, users: [ann]}]", pod, undefined)).toBe("Metadata");
    const decide = compilePolicy(policy("[{level: Request, users: [ann]}, {level: Metadata}]").policy);
    expect(decide(undefined, requestInfo("GET", "/x", new URLSearchParams())).level).toBe("Metadata");
  });

  it("adds up what is left out", () => {
    const text = `{kind: Policy, apiVersion: audit.k8s.io/v1, omitStages: [RequestReceived], omitManagedFields: true,
      rules: [{level: Metadata, verbs: [get], omitStages: [Panic], omitManagedFields: false}, {level: Request}]}`;
    const decide = compilePolicy(parsePolicy(text, "p").policy);
    const [get, put] = ["GET", "PUT"].map((method) =>
      decide(user, requestInfo(method, "/api/v1/nodes/x", new URLSearchParams())),
    );
    expect([[...(get?.omitted ?? [])], get?.omitManagedFields]).toEqual([["RequestReceived", "Panic"], false]);
    expect([[...(put?.omitted ?? [])], put?.omitManagedFields]).toEqual([["RequestReceived"], true]);
  });
});

describe("a policy that makes no sense", () => {
  it.each([
    ["[]", "policy.yaml: a policy needs at least one rule."],
    ["[{}]", "policy.yaml: rules[0].level: Required value."],
    ["[{level: All}]", 'rules[0].level: Unsupported value: "All"'],
    ["[{level: None, omitStages: [Never]}]", 'rules[0].omitStages[0]: Invalid value: "Never": allowed stages are'],
    ["[{level: None, nonResourceURLs: [x]}]", "non-resource URL rules must begin with a '/' character"],
    [
      "[{level: None, nonResourceURLs: ['/a*b']}]",
      "non-resource URL wildcards '*' must be the final character of the rule",
    ],
    [
      "[{level: None, nonResourceURLs: [/a], namespaces: [b]}]",
      "rules cannot apply to both regular resources and non-resource URLs",
    ],
    ["[{level: None, resources: [{group: A/v1}]}]", 'rules[0].resources.group: Invalid value: "A/v1"'],
    ["[{level: None, users: [yes]}]", "rules[0].users[0]: Invalid value: true: must be a string"],
    ["[{level: None, verbs: get}]", 'rules[0].verbs: Invalid value: "get": must be a list of strings'],
    ["[{level: None, resources: [{resourceNames: [a]}]}]", "using resourceNames requires at least one resource"],
  ])("%s", (rules, want) => {
    expect(() => policy(rules)).toThrow(AuditConfigError);
    expect(() => policy(rules)).toThrow(want);
  });

  it.each([
    ["[", "policy.yaml: "],
    ["a", "policy.yaml holds no object."],
    ["{kind: Policy, apiVersion: audit.k8s.io/v1beta1}", "a Policy of audit.k8s.io/v1 is needed"],
  ])("%s", (text, want) => expect(() => parsePolicy(text, "policy.yaml")).toThrow(want));

  it("is told of fields that nobody knows", () => {
    expect(policy("[{level: None, verb: [get]}]").warnings).toEqual(['unknown field "rules[0].verb"']);
  });
});
