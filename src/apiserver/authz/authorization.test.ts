/** The whole of it, request by request: what a fresh cluster lets whom do, and what hostile requests come to. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrap } from "../bootstrap/index.ts";
import type { UserInfo } from "../identity/user.ts";
import { ADMIN, type TestServer, testServer } from "../testing/index.ts";
import { DEFAULT_MODES, type ModeSpec } from "./config.ts";
import { binding, role, user } from "./testing/questions.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
/** Whom nobody knows. */
const NOBODY = null;
const JANE = user("jane");

async function fresh(modes: readonly ModeSpec[]): Promise<TestServer> {
  const server = await testServer({ modes });
  await bootstrap(server.context, server.resources);
  return server;
}

async function made(server: TestServer, path: string, body: object): Promise<void> {
  const { status, text } = await server.request("POST", path, { body });
  if (status !== 201) throw new Error(text);
}

describe("a fresh cluster", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await fresh(DEFAULT_MODES);
    const bind = (name: string, to: string, who: string, namespace?: string) =>
      made(
        server,
        namespace === undefined ? `${RBAC}/clusterrolebindings` : `${RBAC}/namespaces/${namespace}/rolebindings`,
        binding(name, `ClusterRole ${to}`, [who], namespace),
      );
    await bind("view", "view", "User val", "default");
    await bind("edit", "edit", "User ed", "default");
    await bind("admin", "admin", "User ad", "default");
  });
  afterAll(() => server.close());

  const kubelet = user("system:node:n1", "system:nodes");
  const scheduler = user("system:kube-scheduler");
  it.each<[UserInfo | null, string, number]>([
    [ADMIN, "GET /api/v1/secrets", 200],
    [ADMIN, "GET /metrics", 200],
    // What everyone may know, and nothing else.
    [NOBODY, "GET /version", 200],
    [NOBODY, "HEAD /version", 403],
    [NOBODY, "GET /api", 403],
    [NOBODY, "GET /metrics", 403],
    [NOBODY, "GET /api/v1/namespaces/default/configmaps", 403],
    [JANE, "GET /version/", 200],
    [JANE, "GET /api", 200],
    [JANE, "GET /apis/apps", 200],
    [JANE, "GET /openapi/v3", 200],
    [JANE, "GET /", 403],
    [JANE, "GET /k8ts/snapshot", 403],
    [JANE, "GET /k8ts/scheduling", 403],
    [JANE, "GET /metrics/slis", 403],
    [JANE, "GET /statusz", 403],
    [JANE, "GET /flagz", 403],
    [JANE, "GET /debug/api_priority_and_fairness/dump_requests", 403],
    [JANE, "GET /.well-known/openid-configuration", 403],
    [NOBODY, "GET /openapi/v2", 403],
    [NOBODY, "GET /openid/v1/jwks", 403],
    [NOBODY, "GET /k8ts/flows", 403],
    [JANE, "GET /api/v1/namespaces", 403],
    // Roles that are made of others hold what they should, with nobody there to write it down.
    [user("val"), "GET /api/v1/namespaces/default/configmaps", 200],
    [user("val"), "GET /api/v1/namespaces/default/secrets", 403],
    [user("val"), "DELETE /api/v1/namespaces/default/configmaps", 403],
    [user("ed"), "GET /api/v1/namespaces/default/secrets", 200],
    [user("ed"), "DELETE /api/v1/namespaces/default/configmaps", 200],
    [user("ed"), "GET /apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", 403],
    [user("ad"), "GET /apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", 200],
    [user("ad"), "GET /api/v1/namespaces/kube-system/configmaps", 403],
    // Components.
    [scheduler, "GET /api/v1/nodes", 200],
    [scheduler, "GET /api/v1/secrets", 403],
    [kubelet, "GET /api/v1/nodes/n1", 404],
    [kubelet, "GET /api/v1/nodes/n2", 403],
    [kubelet, "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1", 200],
    [kubelet, "GET /api/v1/pods", 403],
  ])("of %j: %s is answered with %i", async (who, request, want) => {
    const [method = "", path = ""] = request.split(" ");
    expect((await server.request(method, path, { user: who })).status).toBe(want);
  });

  it("lets a node read what its Pods need, as soon as they are there", async () => {
    const secret = "/api/v1/namespaces/default/secrets/s";
    const read = async () => (await server.request("GET", secret, { user: kubelet })).status;
    await made(server, "/api/v1/namespaces/default/secrets", { metadata: { name: "s" } });
    expect(await read()).toBe(403);
    await made(server, "/api/v1/namespaces/default/pods", {
      metadata: { name: "p" },
      spec: {
        nodeName: "n1",
        containers: [{ name: "c", image: "i" }],
        volumes: [{ name: "v", secret: { secretName: "s" } }],
      },
    });
    expect(await read()).toBe(200);
    await server.request("DELETE", "/api/v1/namespaces/default/pods/p?gracePeriodSeconds=0");
    expect(await read()).toBe(403);
  });
});

describe("requests that hope to be taken for others", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await fresh(DEFAULT_MODES);
    const pods = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] };
    const named = { verbs: ["get", "list"], apiGroups: [""], resources: ["secrets"], resourceNames: ["open"] };
    await made(server, `${RBAC}/namespaces/default/roles`, role("r", [pods, named], "default"));
    await made(server, `${RBAC}/namespaces/default/rolebindings`, binding("r", "Role r", ["User jane"], "default"));
    await made(server, `${RBAC}/clusterroles`, role("logs", [{ verbs: ["get"], nonResourceURLs: ["/logs/*"] }]));
    await made(server, `${RBAC}/clusterrolebindings`, binding("logs", "ClusterRole logs", ["User jane"]));
    for (const name of ["open", "closed"]) {
      await made(server, "/api/v1/namespaces/default/secrets", { metadata: { name } });
    }
  });
  afterAll(() => server.close());

  it.each<[string, number]>([
    ["GET /api/v1/namespaces/default/pods", 200],
    ["GET /api/v1/namespaces/default/secrets/open", 200],
    ["GET /api/v1/namespaces/default/secrets/closed", 403],
    // One name is asked for, all are wanted.
    ["GET /api/v1/namespaces/default/secrets", 403],
    ["GET /api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3Dclosed", 403],
    ["GET /api/v1/namespaces/default/secrets?fieldSelector=metadata.name!%3Dopen", 403],
    ["GET /api/v1/namespaces/default/secrets/?fieldSelector=", 403],
    // Steps up and down.
    ["GET /api/v1/namespaces/default/pods/../secrets/closed", 403],
    ["GET /api/v1/namespaces/default/secrets/open/../closed", 403],
    ["GET /api/v1/namespaces/default/../kube-system/secrets", 403],
    ["GET /api/v1/namespaces/default/pods/%2e%2e/secrets", 403],
    ["GET /logs/../api/v1/namespaces/default/secrets/closed", 404],
    ["GET /logs/../metrics", 404],
    ["GET /logs/%2e%2e/metrics", 404],
    ["GET /version/../metrics", 403],
    ["GET /healthz/../metrics", 403],
    // Slashes, more than one or by another name.
    ["GET //metrics", 403],
    ["GET /metrics/", 403],
    ["GET //api/v1/namespaces/default/secrets/closed", 403],
    ["GET /api//v1/namespaces//default/secrets//closed", 403],
    ["GET /api/v1/namespaces/default/secrets%2Fclosed", 403],
    ["GET /api/v1/namespaces/default/secrets/open%2F..%2Fclosed", 403],
    ["GET /api/v1/namespaces/default%2Fsecrets/closed", 403],
    ["GET /api%2Fv1%2Fnamespaces%2Fdefault%2Fsecrets%2Fclosed", 403],
    ["GET %2Fmetrics", 403],
    // Other letters, other spellings.
    ["GET /api/v1/namespaces/default/SECRETS/closed", 403],
    ["GET /API/v1/namespaces/default/secrets/closed", 403],
    ["GET /api/V1/namespaces/default/secrets/closed", 403],
    ["GET /api/v1/namespaces/DEFAULT/pods", 403],
    ["GET /Metrics", 403],
    ["GET /metric%73", 403],
    ["GET /api/v1/namespaces/default/%73ecrets/closed", 403],
    ["GET /api/v1/namespaces/default/secrets/close%64", 403],
    ["GET /api/v1/namespaces/default/secrets/open%00", 403],
    ["GET /api/v1/namespaces/%64efault/secrets/closed", 403],
    // Other verbs.
    ["HEAD /api/v1/namespaces/default/secrets/closed", 403],
    ["get /api/v1/namespaces/default/secrets/closed", 403],
    ["TRACE /api/v1/namespaces/default/pods", 403],
    ["GET /api/v1/watch/namespaces/default/pods", 403],
    ["GET /api/v1/namespaces/default/pods?watch=1", 403],
    ["GET /api/v1/namespaces/default/pods?watch", 403],
    ["GET /api/v1/proxy/namespaces/default/pods", 403],
    ["GET /api/v1/namespaces/default/pods/p/log", 403],
    ["GET /api/v1/namespaces/default/pods/p/", 404],
    ["GET /api/v1/namespaces/default/status", 403],
    ["GET /api/v1/pods", 403],
    ["GET /api/v1/namespaces//pods", 403],
    ["GET /apis/apps/v1/namespaces/default/pods", 403],
    ["GET /apis//v1/namespaces/default/pods", 403],
  ])("%s: %i", async (request, want) => {
    const [method = "", path = ""] = request.split(" ");
    expect((await server.request(method, path, { user: JANE })).status).toBe(want);
  });

  it.each<[UserInfo]>([
    [{ name: "jane ", groups: [] }],
    [{ name: "JANE", groups: [] }],
    [{ name: "", groups: ["jane"] }],
    [{ name: "*", groups: ["*"] }],
    [{ name: "system:masters", groups: [] }],
    [{ name: "x", groups: ["system:masters "] }],
    [{ name: "__proto__", groups: ["constructor", "__proto__"] }],
  ])("from %j is refused", async (who) => {
    expect((await server.request("GET", "/api/v1/namespaces/default/pods", { user: who })).status).toBe(403);
  });
});

describe("other modes", () => {
  it("AlwaysAllow lets everyone do everything, also hand on rights", async () => {
    const server = await testServer({ modes: [{ type: "AlwaysAllow", name: "all" }] });
    const body = role("r", [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]);
    expect((await server.request("POST", `${RBAC}/clusterroles`, { body, user: NOBODY })).status).toBe(201);
    await server.close();
  });

  it("AlwaysDeny says so, except to system:masters", async () => {
    const server = await testServer({ modes: [{ type: "AlwaysDeny", name: "none" }] });
    const { json } = await server.request("GET", "/version", { user: JANE });
    expect(json.message).toBe('forbidden: User "jane" cannot get path "/version": Everything is forbidden.');
    expect((await server.request("GET", "/version")).status).toBe(200);
    await server.close();
  });

  it("a webhook decides, or RBAC after it", async () => {
    const hook = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { spec } = JSON.parse(Buffer.concat(chunks).toString()) as { spec: { user: string } };
        const status = { friend: { allowed: true }, foe: { denied: true, reason: "not you" } }[spec.user] ?? {};
        response.end(JSON.stringify({ status }));
      });
    });
    hook.listen(0, "127.0.0.1");
    await once(hook, "listening");
    const server = await fresh([
      {
        type: "Webhook",
        name: "hook",
        connection: {
          context: "c",
          server: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`,
          namespace: undefined,
          caPem: undefined,
          client: undefined,
          tlsServerName: undefined,
          insecureSkipTlsVerify: false,
        },
        version: "v1",
        timeoutMs: 30_000,
        authorizedTtlMs: 0,
        unauthorizedTtlMs: 0,
        onFailure: "noOpinion",
        matchConditions: [],
      },
      { type: "RBAC", name: "rbac" },
    ]);
    const ask = async (name: string, path: string) => {
      const { status, json } = await server.request("GET", path, { user: user(name) });
      return { status, message: json.message };
    };
    const path = "/api/v1/nodes";
    const refusal = (name: string) =>
      `nodes is forbidden: User "${name}" cannot list resource "nodes" in API group "" at the cluster scope`;
    expect(await ask("friend", path)).toEqual({ status: 200, message: undefined });
    expect(await ask("foe", "/version")).toMatchObject({ status: 403 });
    expect(await ask("foe", path)).toEqual({ status: 403, message: `${refusal("foe")}: not you` });
    expect(await ask("other", path)).toEqual({ status: 403, message: refusal("other") });
    expect((await ask("other", "/version")).status).toBe(200);
    await server.close();
    hook.closeAllConnections();
    hook.close();
  });

  it("refuses match conditions that nobody can read", async () => {
    const spec = { type: "Webhook", name: "hook", matchConditions: ["true"] } as unknown as ModeSpec;
    await expect(testServer({ modes: [spec] })).rejects.toThrow("The webhook hook has match conditions");
  });
});
