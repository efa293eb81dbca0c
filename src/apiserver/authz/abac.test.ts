import { describe, expect, it } from "vitest";
import { abac, parsePolicyFile } from "./abac.ts";
import { answer, asking, user } from "./testing/questions.ts";

const policy = (spec: object) =>
  JSON.stringify({ apiVersion: "abac.authorization.kubernetes.io/v1beta1", kind: "Policy", spec });

const file = [
  "# comment",
  "",
  policy({ user: "ann", namespace: "*", resource: "*", apiGroup: "*" }),
  policy({ user: "bob", namespace: "ns", resource: "pods", readonly: true }),
  policy({ group: "dev", namespace: "*", resource: "deployments", apiGroup: "apps" }),
  policy({ user: "kim", group: "ops", namespace: "*", resource: "pods" }),
  policy({ group: "*", nonResourcePath: "/version" }),
  policy({ user: "eve", nonResourcePath: "/logs/*", readonly: true }),
  '{"user":"old"}',
  '{"user":"older","namespace":"ns","readonly":true}',
].join("\n");

describe("policies in a file", () => {
  const mode = abac(parsePolicyFile(file, "policies.jsonl"));
  it.each([
    [user("ann"), "DELETE /api/v1/nodes", true],
    [user("ann"), "GET /metrics", false],
    [user("bob"), "GET /api/v1/namespaces/ns/pods", true],
    [user("bob"), "DELETE /api/v1/namespaces/ns/pods/p", false],
    [user("bob"), "GET /api/v1/namespaces/other/pods", false],
    [user("bob"), "GET /api/v1/pods", false],
    [user("bob"), "GET /apis/apps/v1/namespaces/ns/pods", false],
    [user("x", "dev"), "POST /apis/apps/v1/namespaces/ns/deployments", true],
    [user("x", "ops"), "GET /api/v1/pods", false],
    [user("kim"), "GET /api/v1/pods", false],
    [user("kim", "ops"), "GET /api/v1/pods", true],
    [user("x"), "GET /version", true],
    [{ name: "system:anonymous", groups: ["system:unauthenticated"] }, "GET /version", false],
    [user("x"), "GET /version/", false],
    [user("eve"), "GET /logs/a/b", true],
    [user("eve"), "POST /logs/a", false],
    [user("eve"), "GET /logs", false],
    [user("old"), "DELETE /api/v1/nodes", true],
    [user("old"), "GET /metrics", true],
    [user("older"), "GET /api/v1/namespaces/ns/secrets", true],
    [user("older"), "GET /metrics", false],
    [user("older"), "PUT /api/v1/namespaces/ns/secrets/s", false],
  ])("$name %s: %s", async (who, request, allowed) => {
    const want = allowed ? "allow" : "noOpinion: No policy matched.";
    expect(await answer(mode.authorize, asking(who, request))).toBe(want);
  });

  it("are a user's rules", () => {
    expect(mode.rulesFor(user("bob"), "ns")).toEqual({
      resourceRules: [{ verbs: ["get", "list", "watch"], apiGroups: [""], resources: ["pods"] }],
      nonResourceRules: [],
      incomplete: false,
    });
  });

  it.each([
    ["{", "f.jsonl, line 2: this is not JSON"],
    ["[]", "f.jsonl, line 2: a policy is a JSON object."],
    [
      '{"kind":"Policy","apiVersion":"v1"}',
      "f.jsonl, line 2: a policy has the kind Policy and the apiVersion abac.authorization.kubernetes.io/v1beta1.",
    ],
    [policy({ users: "x" }), 'f.jsonl, line 2: a policy has no field "users".'],
  ])("%s is refused, and where is told", (line, want) => {
    expect(() => parsePolicyFile(`# first\n${line}`, "f.jsonl")).toThrow(want);
  });
});
