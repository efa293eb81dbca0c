/**
 * A new node joins: with a bootstrap token it asks for a certificate, which is approved and signed, and by which it is
 * known.
 */
import { once } from "node:events";
import { Agent, request as httpsRequest } from "node:https";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { builtIn, type KubeObject, kinds } from "#api";
import { MetricsRegistry, realClock, silentLogger, systemRandom, TaskGroup } from "#base";
import { Client, inProcess } from "#client";
import { type Authority, createAuthority, readSigningRequest, signRequest } from "#pki";
import { openMemoryStore, type Store } from "#store";
import { type ApiServer, startApiServer } from "../src/apiserver/index.ts";
import { csrApproving, csrSigning } from "../src/controllers/certificates/index.ts";
import { controllerMetrics, runControllers } from "../src/controllers/runtime/index.ts";
import { makeRequest } from "../src/pki/testing/request.ts";

const clock = realClock();
const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const TOKEN = "abcdef.0123456789abcdef";

let ca: Authority;
let store: Store;
let server: ApiServer;
const tasks = new TaskGroup();
const clients: Client[] = [];

beforeAll(async () => {
  ca = await createAuthority({ commonName: "kubernetes", clock });
  store = openMemoryStore({ clock });
  const serving = await ca.issue({ commonName: "s", ipAddresses: ["127.0.0.1"], usages: ["server"] });
  const parts = { clock, random: systemRandom(), log: silentLogger, metrics: new MetricsRegistry() };
  server = await startApiServer({
    host: "127.0.0.1",
    port: 0,
    certificate: { ...serving, clientCaPem: ca.certPem },
    authentication: { bootstrapTokens: true },
    store,
    sharedStore: false,
    ...parts,
  });
  const clientOf = (name: string, groups: readonly string[]) => {
    const client = new Client({ transport: inProcess(server.handle, { name, groups }), clock });
    clients.push(client);
    return client;
  };
  const signer = {
    read: readSigningRequest,
    sign: (der: Buffer, options: Parameters<typeof signRequest>[2]) => signRequest(ca, der, options),
  };
  const accounts = ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"];
  tasks.run("controllers", (signal) =>
    runControllers(
      {
        controllers: [csrApproving(signer), csrSigning(signer)],
        client: clientOf("system:kube-controller-manager", ["system:authenticated"]),
        clientOf: (account) => clientOf(`system:serviceaccount:kube-system:${account}`, accounts),
        instance: "test",
        ...parts,
        metrics: controllerMetrics(parts.metrics),
      },
      signal,
    ),
  );
  const admin = clientOf("admin", ["system:masters"]);
  const bindings = builtIn.find(({ kind }) => kind === "ClusterRoleBinding");
  if (bindings === undefined) throw new Error("there are no ClusterRoleBindings");
  const bind = async (role: string, group: string) => {
    const subjects = [{ kind: "Group", name: group, apiGroup: "rbac.authorization.k8s.io" }];
    const roleRef = { kind: "ClusterRole", name: role, apiGroup: "rbac.authorization.k8s.io" };
    await admin.of(bindings).create({ metadata: { generateName: "join-" }, subjects, roleRef } as KubeObject);
  };
  await bind("system:node-bootstrapper", "system:bootstrappers");
  await bind("system:certificates.k8s.io:certificatesigningrequests:nodeclient", "system:bootstrappers");
  await bind("system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", "system:nodes");
  const [id = "", secret = ""] = TOKEN.split(".");
  const stringData = { "token-id": id, "token-secret": secret, "usage-bootstrap-authentication": "true" };
  const metadata = { name: `bootstrap-token-${id}`, namespace: "kube-system" };
  await admin
    .of(kinds.Secret)
    .in("kube-system")
    .create({ metadata, type: "bootstrap.kubernetes.io/token", stringData });
});

afterAll(async () => {
  await tasks.stop();
  for (const client of clients) await client.close();
  await server.stop();
  await store.close();
});

interface Asking {
  readonly token?: string;
  readonly pair?: { readonly cert: string; readonly key: string };
  readonly body?: object;
}

async function ask(method: string, path: string, { token, pair, body }: Asking) {
  const agent = new Agent({ ca: ca.certPem, ...pair });
  const headers = {
    "content-type": "application/json",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const outgoing = httpsRequest(`https://127.0.0.1:${server.port}${path}`, { method, agent, headers });
  outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = await once(outgoing, "response");
  const answer = { status: response.statusCode as number, json: await json(response) };
  agent.destroy();
  return answer;
}

function signingRequest(pem: string) {
  const spec = {
    signerName: "kubernetes.io/kube-apiserver-client-kubelet",
    request: Buffer.from(pem).toString("base64"),
    usages: ["client auth", "digital signature"],
  };
  return { metadata: { generateName: "node-csr-" }, spec };
}

interface Asked {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly certificate?: string; readonly conditions?: readonly { readonly message: string }[] };
}

async function obtain(who: Asking, pem: string): Promise<Asked> {
  const asked = await ask("POST", REQUESTS, { ...who, body: signingRequest(pem) });
  expect(asked.status).toBe(201);
  const { name } = (asked.json as Asked).metadata;
  return vi.waitFor(async () => {
    const found = (await ask("GET", `${REQUESTS}/${name}`, who)).json as Asked;
    expect(found.status?.certificate).toBeDefined();
    return found;
  }, 60_000);
}

const WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

describe("TLS bootstrap", () => {
  it("gives a node its certificate for a bootstrap token, and a new one for the old", async () => {
    const request = makeRequest({ commonName: "system:node:x", organizations: ["system:nodes"] });
    const first = await obtain({ token: TOKEN }, request.pem);
    expect(first.status?.conditions?.[0]?.message).toBe(
      "Auto approving kubelet client certificate after SubjectAccessReview.",
    );
    const cert = Buffer.from(first.status?.certificate ?? "", "base64").toString();
    const pair = { cert, key: request.keyPem };
    const { json: me } = await ask("POST", WHO_AM_I, { pair, body: {} });
    expect(me).toMatchObject({
      status: { userInfo: { username: "system:node:x", groups: expect.arrayContaining(["system:nodes"]) } },
    });
    const again = makeRequest({ commonName: "system:node:x", organizations: ["system:nodes"] });
    const second = await obtain({ pair }, again.pem);
    expect(second.status?.conditions?.[0]?.message).toBe(
      "Auto approving self kubelet client certificate after SubjectAccessReview.",
    );
  });

  it("approves nothing that a token could rise with", async () => {
    const masters = makeRequest({ commonName: "system:node:x", organizations: ["system:masters"] });
    const { json: asked } = await ask("POST", REQUESTS, { token: TOKEN, body: signingRequest(masters.pem) });
    const { name } = (asked as Asked).metadata;
    // What comes after it has been decided; so has it.
    await obtain({ token: TOKEN }, makeRequest({ commonName: "system:node:y", organizations: ["system:nodes"] }).pem);
    const { json: found } = await ask("GET", `${REQUESTS}/${name}`, { token: TOKEN });
    expect((found as Asked).status).toEqual({});
  });
});
