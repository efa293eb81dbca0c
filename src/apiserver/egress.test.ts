/** Which connections of a server pass through which proxy, over loopback. */
import { once } from "node:events";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Dial, realClock, silentLogger } from "#base";
import { createAuthority } from "#pki";
import { admissionWebhook } from "./admission/webhooks/testing/index.ts";
import { type AggregatedServer, aggregatedServer, BASE } from "./aggregation/testing/index.ts";

let server: AggregatedServer;
/** `selection host:port`, in order. */
let dialed: string[];
let failing: string | undefined;
const undo: (() => unknown)[] = [];

function dialAs(selection: string): Dial {
  return async ({ host, port }) => {
    dialed.push(`${selection} ${host}:${port}`);
    if (failing !== undefined) throw new Error(failing);
    const socket = connect({ host: "127.0.0.1", port });
    await once(socket, "connect");
    return socket;
  };
}

beforeEach(async () => {
  dialed = [];
  failing = undefined;
  const egress = { cluster: dialAs("cluster"), controlplane: dialAs("controlplane") };
  server = await aggregatedServer(silentLogger, undefined, undefined, egress);
});

afterEach(async () => {
  await server.close();
  for (const each of undo.splice(0).reverse()) await each();
});

const json = { "content-type": "application/json" };
async function create(path: string, body: object, status?: object): Promise<void> {
  const { status: code, text, json: made } = await server.ask("POST", path, { body, headers: json });
  if (code !== 201) throw new Error(text);
  if (status === undefined) return;
  const name = (body as { metadata: { name: string } }).metadata.name;
  const answer = await server.ask("PUT", `${path}/${name}/status`, { body: { ...made, status }, headers: json });
  if (answer.status !== 200) throw new Error(answer.text);
}

const hookRules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
const configMap = (name: string) =>
  server.ask("POST", "/api/v1/namespaces/default/configmaps", { body: { metadata: { name } }, headers: json });

it.each(["url", "service"] as const)("a webhook with a %s", async (sort) => {
  const hook = await admissionWebhook(["localhost", "hook.default.svc"]);
  undo.push(() => hook.close());
  await create("/api/v1/namespaces/default/services", {
    metadata: { name: "hook" },
    spec: { type: "ExternalName", externalName: "far.test" },
  });
  const service = { name: "hook", namespace: "default", path: "/", port: hook.port };
  const clientConfig = { caBundle: hook.caBundle, ...(sort === "url" ? { url: hook.url } : { service }) };
  await create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
    metadata: { name: "w" },
    webhooks: [
      { name: "w.example.com", clientConfig, sideEffects: "None", admissionReviewVersions: ["v1"], rules: hookRules },
    ],
  });
  expect((await configMap("a")).status).toBe(201);
  expect(hook.reviews.length).toBe(1);
  const host = new URL(hook.url).hostname;
  expect(dialed).toEqual([sort === "url" ? `controlplane ${host}:${hook.port}` : `cluster far.test:${hook.port}`]);
});

it("a webhook that no proxy leads to fails in the proxy's words", async () => {
  await create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
    metadata: { name: "w" },
    webhooks: [
      {
        name: "w.example.com",
        clientConfig: { url: "https://far.test/x" },
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        rules: hookRules,
      },
    ],
  });
  failing = "proxy error from 10.0.0.1:80 while dialing far.test:443, code 403: 403 Forbidden";
  const { status, json: answer } = await configMap("a");
  expect([status, String(answer.message)]).toEqual([
    500,
    expect.stringContaining(`failed to call webhook: Post "https://far.test/x?timeout=10s": ${failing}`),
  ]);
});

it.each([{ protocols: ["h2"] as const }, { protocols: ["http/1.1"] as const }])(
  "an aggregated server that speaks $protocols",
  async ({ protocols }) => {
    const extension = await server.extension({ protocols: [...protocols] });
    await server.register(extension);
    await expect.poll(() => server.available(), { interval: 20 }).toBe("True Passed");
    expect((await server.ask("GET", BASE)).status).toBe(200);
    expect(new Set(dialed)).toEqual(new Set([`cluster localhost:${extension.port}`]));
  },
);

it("the kubelet of a node: logs, and streams", async () => {
  const authority = await createAuthority({ commonName: "kubelets", clock: realClock() });
  const names = { ipAddresses: ["192.0.2.7"] };
  const { certPem, keyPem } = await authority.issue({ commonName: "kubelet", usages: ["server"], ...names });
  const kubelet = createServer({ cert: certPem, key: keyPem });
  const open = new Set<Duplex>();
  kubelet.on("request", (_, response) => void response.end("line\n"));
  kubelet.on("upgrade", (_, socket) => {
    open.add(socket);
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n");
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  kubelet.listen(0, "127.0.0.1");
  await once(kubelet, "listening");
  undo.push(() => {
    for (const each of open) each.destroy();
    kubelet.close();
  });
  const { port } = kubelet.address() as AddressInfo;
  const addresses = [{ type: "InternalIP", address: "192.0.2.7" }];
  await create(
    "/api/v1/nodes",
    { metadata: { name: "n" } },
    { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } },
  );
  await create("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
  const spec = { nodeName: "n", containers: [{ name: "c", image: "img" }] };
  await create("/api/v1/namespaces/default/pods", { metadata: { name: "p" }, spec });
  const log = await server.ask("GET", "/api/v1/namespaces/default/pods/p/log");
  expect([log.status, log.text]).toEqual([200, "line\n"]);
  const upgrade = { connection: "Upgrade", upgrade: "echo" };
  const request = server.open("POST", "/api/v1/namespaces/default/pods/p/exec?command=x", { headers: upgrade });
  request.end();
  const [, stream] = (await once(request, "upgrade")) as [unknown, Duplex];
  open.add(stream);
  stream.write("hello");
  const [chunk] = (await once(stream, "data")) as [Buffer];
  expect(chunk.toString()).toBe("hello");
  expect(dialed).toEqual([`cluster 192.0.2.7:${port}`, `cluster 192.0.2.7:${port}`]);
});
