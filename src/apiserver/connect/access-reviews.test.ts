/** Reviews of access, answered by the chain that decides on requests. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { MetricsRegistry } from "#base";
import { authorization } from "../authz/index.ts";
import { binding, role, user } from "../authz/testing/questions.ts";
import { bootstrap, nodeRules } from "../bootstrap/index.ts";
import { type TestServer, testServer } from "../bootstrap/testing/server.ts";
import { isStream } from "../http/exchange.ts";
import { requestInfo } from "../http/request-info.ts";
import type { UserInfo } from "../identity/user.ts";
import { dispatch } from "../pipeline/dispatch.ts";
import { connectors } from "./connectors.ts";

const GROUP = "rbac.authorization.k8s.io";
const ADMIN = user("admin", "system:masters");
const JANE = user("jane");

describe("a review of access", () => {
  let server: TestServer;
  let served: ReturnType<typeof connectors>;
  beforeAll(async () => {
    server = await testServer();
    const { context, resources } = server;
    await bootstrap(context, resources);
    const parts = { resources, nodeRules: nodeRules(), metrics: new MetricsRegistry(), ...context };
    served = connectors({ context, resources, authenticateToken: async () => undefined, ...authorization(parts) });
    const pods = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
    await server.create(GROUP, "roles", role("r", [pods], "default"));
    await server.create(GROUP, "rolebindings", binding("b", "Role r", ["User jane"], "default"));
    await server.create(GROUP, "rolebindings", binding("c", "Role ghost", ["User dan"], "default"));
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function review(plural: string, spec: object, asker: UserInfo = ADMIN): Promise<JsonObject> {
    const local = plural.startsWith("local") ? "namespaces/default/" : "";
    const path = `/apis/authorization.k8s.io/v1/${local}${plural}`;
    const query = new URLSearchParams();
    const response = await dispatch(
      {
        method: "POST",
        path,
        query,
        headers: {},
        user: asker,
        body: async () => Buffer.from(JSON.stringify({ spec })),
        signal: new AbortController().signal,
      },
      requestInfo("POST", path, query),
      {
        context: server.context,
        resources: server.resources,
        stopping: new AbortController().signal,
        connectors: served,
      },
      { warn: () => {}, annotate: () => {} },
    );
    if (isStream(response)) throw new Error("no stream was asked for");
    return (JSON.parse(Buffer.concat(response.body).toString()) as { status: JsonObject }).status;
  }

  const pods = (verb = "get", more: object = {}) => ({
    resourceAttributes: { verb, resource: "pods", namespace: "default", ...more },
  });
  const allowed = (reason: string) => ({ allowed: true, reason: `RBAC: allowed by ${reason}` });

  it.each<[string, string, object, UserInfo, object]>([
    [
      "of another",
      "subjectaccessreviews",
      { user: "jane", ...pods() },
      ADMIN,
      allowed('RoleBinding "b/default" of Role "r" to User "jane"'),
    ],
    ["of what they may not", "subjectaccessreviews", { user: "jane", ...pods("list") }, ADMIN, { allowed: false }],
    [
      "of somebody whose role is missing",
      "subjectaccessreviews",
      { user: "dan", ...pods() },
      ADMIN,
      { allowed: false, reason: 'RBAC: role.rbac.authorization.k8s.io "ghost" not found' },
    ],
    [
      "of system:masters",
      "subjectaccessreviews",
      { groups: ["system:masters"], ...pods("*") },
      ADMIN,
      { allowed: true },
    ],
    [
      "of a group",
      "subjectaccessreviews",
      { groups: ["system:authenticated"], nonResourceAttributes: { path: "/version", verb: "get" } },
      ADMIN,
      expect.objectContaining({ allowed: true }),
    ],
    [
      "of a node",
      "subjectaccessreviews",
      { user: "system:node:n1", groups: ["system:nodes"], ...pods("list") },
      ADMIN,
      { allowed: false, reason: "can only list/watch pods with spec.nodeName field selector" },
    ],
    [
      "of a node that selects",
      "subjectaccessreviews",
      {
        user: "system:node:n1",
        groups: ["system:nodes"],
        ...pods("list", { fieldSelector: { rawSelector: "spec.nodeName=n1" } }),
      },
      ADMIN,
      { allowed: true },
    ],
    [
      "with a selector that cannot be read",
      "subjectaccessreviews",
      { user: "jane", ...pods("list", { labelSelector: { rawSelector: "a in (" } }) },
      ADMIN,
      {
        allowed: false,
        evaluationError: "spec.resourceAttributes.labelSelector partially ignored due to parse error",
      },
    ],
    [
      "in a namespace",
      "localsubjectaccessreviews",
      { user: "jane", ...pods() },
      ADMIN,
      allowed('RoleBinding "b/default" of Role "r" to User "jane"'),
    ],
    [
      "of oneself",
      "selfsubjectaccessreviews",
      pods(),
      JANE,
      allowed('RoleBinding "b/default" of Role "r" to User "jane"'),
    ],
  ])("%s", async (_, plural, spec, asker, want) => {
    expect(await review(plural, spec, asker)).toEqual(want);
  });

  it("lists what one may do", async () => {
    const { resourceRules, nonResourceRules, incomplete } = await review(
      "selfsubjectrulesreviews",
      { namespace: "default" },
      JANE,
    );
    expect(resourceRules).toContainEqual({ verbs: ["get"], apiGroups: [""], resources: ["pods"] });
    expect(nonResourceRules).toContainEqual({
      verbs: ["get"],
      nonResourceURLs: ["/healthz", "/livez", "/readyz", "/version", "/version/"],
    });
    expect(incomplete).toBe(false);
    const ofNode = user("system:node:n1", "system:nodes");
    expect(await review("selfsubjectrulesreviews", { namespace: "default" }, ofNode)).toMatchObject({
      incomplete: true,
      evaluationError: "node authorizer does not support user rule resolution",
    });
  });
});
