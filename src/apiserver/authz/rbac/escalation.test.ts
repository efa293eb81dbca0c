import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { rbac } from "#api";
import { bootstrap } from "../../bootstrap/index.ts";
import { type TestServer, testServer } from "../../testing/index.ts";
import { DEFAULT_MODES } from "../config.ts";
import { binding, role, user } from "../testing/questions.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const NS = `${RBAC}/namespaces/default`;
const JANE = user("jane");
const rule = (verbs: string, resources: string, names?: string): rbac.PolicyRule => ({
  apiGroups: [""],
  resources: resources.split(","),
  verbs: verbs.split(","),
  ...(names !== undefined && { resourceNames: names.split(",") }),
});
const WRITING: rbac.PolicyRule = {
  apiGroups: ["rbac.authorization.k8s.io"],
  resources: ["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
  verbs: ["get", "list", "create", "update", "patch"],
};
const refused = (what: string, name: string, ...lines: string[]) =>
  `${what}.rbac.authorization.k8s.io "${name}" is forbidden: user "jane" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${lines.join("\n")}`;

describe("nobody gives what they do not have", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await testServer({ modes: DEFAULT_MODES });
    await bootstrap(server.context, server.resources);
    await made(`${RBAC}/clusterroles`, role("writer", [WRITING, rule("get,list", "pods")]));
    await made(`${RBAC}/clusterrolebindings`, binding("writer", "ClusterRole writer", ["User jane"]));
  });
  afterEach(() => server.close());

  async function made(path: string, body: object): Promise<void> {
    const { status, text } = await server.request("POST", path, { body });
    if (status !== 201) throw new Error(text);
  }

  async function asJane(method: string, path: string, body: object, headers: Record<string, string> = {}) {
    const { status, json } = await server.request(method, path, { body, headers, user: JANE });
    return { status, message: json.message };
  }

  /** Jane may do this, by a role of its own. */
  async function allow(name: string, ...rules: rbac.PolicyRule[]): Promise<void> {
    await made(`${RBAC}/clusterroles`, role(name, rules));
    await made(`${RBAC}/clusterrolebindings`, binding(name, `ClusterRole ${name}`, ["User jane"]));
  }

  it.each([
    { given: [rule("get", "pods")], status: 201 },
    { given: [], status: 201 },
    { given: [rule("get", "pods", "web")], status: 201 },
    { given: [rule("get,delete", "pods")], lines: ['{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}'] },
    { given: [rule("*", "*")], lines: ['{APIGroups:[""], Resources:["*"], Verbs:["*"]}'] },
  ])("by a role with $given", async ({ given, lines }) => {
    const answer = await asJane("POST", `${NS}/roles`, role("r", given, "default"));
    expect(answer).toEqual(
      lines === undefined
        ? { status: 201, message: undefined }
        : { status: 403, message: refused("roles", "r", ...lines) },
    );
  });

  it("by changing one, in whatever way", async () => {
    await made(`${NS}/roles`, role("r", [rule("get", "pods")], "default"));
    const wide = { rules: [rule("delete", "pods")] };
    const message = refused("roles", "r", '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}');
    const patch = (type: string, body: object, query = "") =>
      asJane("PATCH", `${NS}/roles/r${query}`, body, { "content-type": `application/${type}` });
    expect(await patch("merge-patch+json", wide)).toEqual({ status: 403, message });
    expect(await patch("json-patch+json", [{ op: "replace", path: "/rules", value: wide.rules }])).toEqual({
      status: 403,
      message,
    });
    const whole = role("r", wide.rules, "default");
    expect(await patch("apply-patch+yaml", whole, "?fieldManager=m&force=true")).toEqual({ status: 403, message });
    expect(await asJane("PUT", `${NS}/roles/r`, whole)).toEqual({ status: 403, message });
    expect(await asJane("PUT", `${NS}/roles/r?dryRun=All`, whole)).toEqual({ status: 403, message });
    // What it makes of nothing is refused alike.
    expect(await asJane("PUT", `${NS}/roles/new`, role("new", wide.rules, "default"))).toMatchObject({ status: 403 });
    expect((await patch("merge-patch+json", { metadata: { labels: { a: "b" } } })).status).toBe(200);
  });

  it("but garbage collection goes on", async () => {
    await made(`${NS}/roles`, {
      ...role("r", [rule("delete", "secrets")], "default"),
      metadata: { name: "r", finalizers: ["example.com/x"] },
    });
    const patch = (body: object) =>
      asJane("PATCH", `${NS}/roles/r`, body, { "content-type": "application/merge-patch+json" });
    expect((await patch({ metadata: { labels: { a: "b" } } })).status).toBe(403);
    expect((await patch({ metadata: { finalizers: null } })).status).toBe(200);
  });

  it("unless they may escalate", async () => {
    const wide = [rule("delete", "pods")];
    await allow("escalates", { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["escalate"] });
    expect((await asJane("POST", `${NS}/roles`, role("r", wide, "default"))).status).toBe(201);
    expect((await asJane("POST", `${RBAC}/clusterroles`, role("r", wide))).status).toBe(403);
  });

  it.each([
    { roleRef: "ClusterRole writer", want: { status: 201 } },
    {
      roleRef: "ClusterRole system:node-problem-detector",
      want: {
        status: 403,
        message: refused(
          "rolebindings",
          "b",
          '{APIGroups:[""], Resources:["events"], Verbs:["create" "patch" "update"]}',
          '{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}',
          '{APIGroups:[""], Resources:["nodes/status"], Verbs:["patch"]}',
          '{APIGroups:["events.k8s.io"], Resources:["events"], Verbs:["create" "patch" "update"]}',
        ),
      },
    },
    {
      roleRef: "Role ghost",
      want: { status: 404, message: 'rolebindings.rbac.authorization.k8s.io "ghost" not found' },
    },
  ] as const)("by binding $roleRef", async ({ roleRef, want }) => {
    expect(await asJane("POST", `${NS}/rolebindings`, binding("b", roleRef, ["User jane"], "default"))).toMatchObject(
      want,
    );
  });

  it("by binding what is made of parts", async () => {
    const { status, message } = await asJane(
      "POST",
      `${NS}/rolebindings`,
      binding("b", "ClusterRole view", [], "default"),
    );
    expect({ status, message: String(message).includes('Resources:["configmaps"]') }).toEqual({
      status: 403,
      message: true,
    });
  });

  it("unless they may bind it", async () => {
    const bind = { apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], verbs: ["bind"] };
    await allow("binds", { ...bind, resourceNames: ["view"] });
    const bound = (name: string) =>
      asJane("POST", `${NS}/rolebindings`, binding(name, `ClusterRole ${name}`, [], "default"));
    expect([(await bound("view")).status, (await bound("edit")).status]).toEqual([201, 403]);
  });

  it("by a role that comes to hold anything", async () => {
    const aggregating = {
      ...role("a", []),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] },
    };
    const message =
      'clusterroles.rbac.authorization.k8s.io "a" is forbidden: must have cluster-admin privileges to use the aggregationRule';
    expect(await asJane("POST", `${RBAC}/clusterroles`, aggregating)).toEqual({ status: 403, message });
    await made(`${RBAC}/clusterroles`, aggregating);
    expect(await asJane("PUT", `${RBAC}/clusterroles/a`, role("a", []))).toEqual({ status: 403, message });
    await allow("all", { verbs: ["*"], apiGroups: ["*"], resources: ["*"] }, { verbs: ["*"], nonResourceURLs: ["*"] });
    expect((await asJane("PUT", `${RBAC}/clusterroles/a`, role("a", []))).status).toBe(200);
  });

  it("and is told which of their own roles are missing", async () => {
    await made(`${NS}/rolebindings`, binding("dangling", "Role lost", ["User jane"], "default"));
    const { message } = await asJane("POST", `${NS}/roles`, role("r", [rule("delete", "pods")], "default"));
    expect(message).toMatch(/; resolution errors: \[roles\.rbac\.authorization\.k8s\.io "lost" not found\]$/);
  });
});

describe("a write that would create", () => {
  it("needs the right to create", async () => {
    const server = await testServer({ modes: DEFAULT_MODES });
    const path = "/api/v1/namespaces/default/configmaps/x";
    const send = (who = JANE) =>
      server.request("PATCH", `${path}?fieldManager=m`, {
        body: { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "x" } },
        headers: { "content-type": "application/apply-patch+yaml" },
        user: who,
      });
    const grant = async (verbs: string) => {
      await server.request("POST", `${RBAC}/clusterroles`, { body: role(verbs, [rule(verbs, "configmaps")]) });
      const bound = binding(verbs, `ClusterRole ${verbs}`, ["User jane"]);
      await server.request("POST", `${RBAC}/clusterrolebindings`, { body: bound });
    };
    await grant("patch");
    expect((await send()).json).toMatchObject({
      code: 403,
      message:
        'configmaps "x" is forbidden: User "jane" cannot create resource "configmaps" in API group "" in the namespace "default"',
    });
    await grant("create");
    expect((await send()).status).toBe(201);
    await server.close();
  });
});
