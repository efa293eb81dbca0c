/** The metrics server as its own process would run: a real API server in front, a kubelet behind, all on loopback. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer, request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kinds } from "#api";
import { type ApiServer, startApiServer } from "#apiserver";
import { MetricsRegistry, realClock, requestTarget, silentLogger, systemRandom, TaskGroup } from "#base";
import { Client, https } from "#client";
import { type ClusterPki, ensureClusterPki } from "#pki";
import { openStore } from "#store";
import { attributesOf, runStandaloneMetricsServer } from "./metrics-server.ts";

const BASE = "/apis/metrics.k8s.io/v1beta1";
const clock = realClock();
const dir = mkdtempSync(join(tmpdir(), "k8ts-metrics-"));
const open: (() => Promise<unknown> | unknown)[] = [() => rmSync(dir, { recursive: true, force: true })];
let api: ApiServer;
let pki: ClusterPki;
let port = 0;
/** Authorization headers that the kubelet has seen. */
const presented = new Set<string | undefined>();

afterAll(async () => {
  for (const close of open.reverse()) await close();
});

beforeAll(async () => {
  const serverNames = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  pki = await ensureClusterPki(dir, { clock, serverNames });
  const store = await openStore({ kind: "memory", clock });
  open.push(() => store.close());
  const tokens = new Map([
    ["root", { name: "root", groups: ["system:masters", "system:authenticated"] }],
    ["jane", { name: "jane", groups: ["system:authenticated"] }],
  ]);
  const { frontProxyCa } = pki;
  api = await startApiServer({
    ...{ host: "127.0.0.1", port: 0, store, sharedStore: false, clock, random: systemRandom(), log: silentLogger },
    certificate: { ...pki.apiserver, clientCaPem: pki.ca.certPem },
    authentication: { tokens },
    requestHeader: { ca: frontProxyCa.certPem, allowedNames: ["front-proxy-client"] },
    frontProxyIdentity: () => pki.frontProxyClient,
    metrics: new MetricsRegistry(),
  });
  open.push(() => api.stop());
  const kubelet = await startKubelet();
  const connection = { server: `https://127.0.0.1:${api.port}`, caPem: pki.ca.certPem, token: "root" };
  const client = new Client({ transport: https(connection, { clock }), clock });
  open.push(() => client.close());
  const node = await client.of(kinds.Node).create({ metadata: { name: "n" } });
  const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
  const daemonEndpoints = { kubeletEndpoint: { Port: kubelet } };
  await client.of(kinds.Node).updateStatus({ ...node, status: { addresses, daemonEndpoints } });
  const containers = [{ name: "main", image: "i" }];
  await client.of(kinds.ServiceAccount).create({ metadata: { name: "default", namespace: "default" } });
  await client.of(kinds.Pod).create({ metadata: { name: "web", namespace: "default" }, spec: { containers } });

  const kubeconfig = join(dir, "kubeconfig");
  const cluster = {
    server: connection.server,
    "certificate-authority-data": Buffer.from(pki.ca.certPem).toString("base64"),
  };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      ...{ apiVersion: "v1", kind: "Config", "current-context": "c" },
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user: { token: "root" } }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    }),
  );
  const serving = Promise.withResolvers<number>();
  const log = {
    ...silentLogger,
    info: (_message: string, fields?: Readonly<Record<string, unknown>>) => {
      if (typeof fields?.port === "number") serving.resolve(fields.port);
    },
  };
  const tasks = new TaskGroup();
  tasks.run("metrics server", (signal) =>
    runStandaloneMetricsServer(
      {
        kubeconfig,
        serving: { bindAddress: "127.0.0.1", port: 0 },
        resolutionMs: 300,
        kubelet: { timeoutMs: 10_000, addressTypes: ["InternalIP"], insecureTls: false },
      },
      { clock, log },
      signal,
    ),
  );
  open.push(() => tasks.stop());
  port = await serving.promise;
  const name = { namespace: "default", name: "metrics" };
  await client.of(kinds.Service).create({ metadata: name, spec: { type: "ExternalName", externalName: "localhost" } });
  const versions = { group: "metrics.k8s.io", version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 };
  await client.of(kinds.APIService).create({
    metadata: { name: "v1beta1.metrics.k8s.io" },
    spec: { ...versions, service: { ...name, port }, insecureSkipTLSVerify: true },
  });
});

/** A kubelet whose containers are busier each time. */
async function startKubelet(): Promise<number> {
  const { certPem, keyPem } = pki.apiserver;
  let used = 0;
  const server = createServer({ cert: certPem, key: keyPem }, ({ headers, url }, response) => {
    presented.add(headers.authorization);
    used += 1;
    const now = clock.now();
    const labels = '{container="main",namespace="default",pod="web"}';
    const lines = [
      `node_cpu_usage_seconds_total ${used} ${now}`,
      `node_memory_working_set_bytes 1048576 ${now}`,
      `container_cpu_usage_seconds_total${labels} ${used} ${now}`,
      `container_memory_working_set_bytes${labels} 1048576 ${now}`,
    ];
    if (url === "/metrics/resource") response.end(`${lines.join("\n")}\n`);
    else response.writeHead(404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push(async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}

interface AskOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly identity?: { readonly certPem: string; readonly keyPem: string };
}

async function ask(at: number, path: string, { token, headers = {}, identity }: AskOptions = {}): Promise<string> {
  const request = httpsRequest({
    ...{ host: "127.0.0.1", port: at, path, agent: false, rejectUnauthorized: false },
    cert: identity?.certPem,
    key: identity?.keyPem,
    headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
  });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return `${response.statusCode} ${text}`;
}

const PATIENT = { timeout: 60_000 };
const POD = `${BASE}/namespaces/default/pods/web`;

describe("a metrics server of its own", () => {
  it("is ready once it has asked the nodes, and shows it through the API server", PATIENT, async () => {
    await expect.poll(() => ask(port, "/readyz"), PATIENT).toMatch(/^200 ok/);
    await expect.poll(() => ask(api.port, POD, { token: "root" }), PATIENT).toMatch(/^200 .*"kind":"PodMetrics"/);
    expect(await ask(api.port, `${BASE}/nodes`, { token: "root" })).toContain('"memory":"1Mi"');
    expect([...presented]).toEqual(["Bearer root"]);
    expect(await ask(api.port, POD, { token: "jane" })).toMatch(/^403 /);
  });

  it("asks the API server about those who come directly", PATIENT, async () => {
    await expect.poll(() => ask(port, POD, { token: "root" }), PATIENT).toMatch(/^200 /);
    expect(await ask(port, POD, { token: "jane" })).toMatch(/^403 forbidden: User "jane" cannot get resource "pods"/);
    expect(await ask(port, POD, { token: "wrong" })).toMatch(/^401 /);
    expect(await ask(port, POD)).toMatch(/^403 forbidden: User "system:anonymous"/);
    expect(await ask(port, "/metrics", { token: "root" })).toMatch(/^200 /);
  });

  it("believes only the front proxy who somebody is", PATIENT, async () => {
    const headers = { "x-remote-user": "root", "x-remote-group": "system:masters" };
    expect(await ask(port, POD, { headers })).toMatch(/^403 /);
    expect(await ask(port, POD, { headers, identity: pki.apiserverKubeletClient })).toMatch(/^403 /);
    await expect.poll(() => ask(port, POD, { headers, identity: pki.frontProxyClient }), PATIENT).toMatch(/^200 /);
  });
});

it.each([
  { method: "GET", path: `${BASE}/pods`, want: { resource: "pods", verb: "list" } },
  { method: "GET", path: `${BASE}/pods?watch=true`, want: { resource: "pods", verb: "watch" } },
  { method: "GET", path: `${BASE}/nodes/n`, want: { resource: "nodes", verb: "get", name: "n" } },
  { method: "GET", path: POD, want: { resource: "pods", verb: "get", namespace: "default", name: "web" } },
  { method: "DELETE", path: POD, want: { verb: "delete" } },
  { method: "GET", path: "/metrics", want: { path: "/metrics", verb: "get" } },
])("$method $path", ({ method, path, want }) => expect(attributesOf(method, requestTarget(path))).toMatchObject(want));
