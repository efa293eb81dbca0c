/** The Gateway API on an API server in memory: its definitions, what is opened for its objects, and their statuses. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { isStatusError, kinds } from "#api";
import { MetricsRegistry, realClock, seededRandom, silentLogger, TaskGroup } from "#base";
import { Client, clusterWide, inProcess, namespaced } from "#client";
import { createAuthority } from "#pki";
import { type TestServer, testServer } from "../../apiserver/testing/index.ts";
import { installDefinitions } from "../gateway/index.ts";
import { runIngress } from "./run-ingress.ts";

const GROUP = "gateway.networking.k8s.io";
const clock = realClock();
const tasks = new TaskGroup();
let server: TestServer;
let client: Client;
let ports: { readonly http: number; readonly https: number };

interface Shown {
  readonly metadata: { readonly name: string };
  readonly spec?: object;
  readonly status?: {
    readonly listeners?: readonly { readonly attachedRoutes: number; readonly conditions: readonly Words[] }[];
    readonly parents?: readonly { readonly conditions: readonly Words[] }[];
    readonly ancestors?: readonly { readonly conditions: readonly Words[] }[];
  };
}
interface Words {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

const objects = (kind: string, plural: string, version = "v1") =>
  client.of(namespaced<Shown>(`${GROUP}/${version}`, kind, plural)).in("default");
const words = (all: readonly Words[] = []) => all.map(({ type, status, reason }) => `${type} ${status} ${reason}`);

beforeAll(async () => {
  server = await testServer();
  client = new Client({ transport: inProcess(server.handle, { name: "admin", groups: ["system:masters"] }), clock });
  await installDefinitions(client, new AbortController().signal);
  const ready = Promise.withResolvers<typeof ports>();
  tasks.run("ingress", (signal) =>
    runIngress(
      {
        ...{ client, clock, metrics: new MetricsRegistry(), random: seededRandom(1), log: silentLogger },
        ...{ address: "127.0.0.1", httpPort: 0, httpsPort: 0, drainMs: 0 },
        onReady: ({ http = 0, https = 0 }) => ready.resolve({ http, https }),
      },
      signal,
    ),
  );
  ports = await ready.promise;
  const classes = client.of(clusterWide<Shown>(`${GROUP}/v1`, "GatewayClass", "gatewayclasses"));
  // The definition may take a moment to be served.
  const made = async () => {
    try {
      await classes.create({ metadata: { name: "k8ts" }, spec: { controllerName: "k8ts.dev/gateway" } });
      return true;
    } catch (error) {
      if (isStatusError(error) && error.reason === "NotFound") return false;
      throw error;
    }
  };
  await vi.waitUntil(made, { timeout: 30_000 });
});

afterAll(async () => {
  await tasks.stop();
  await client.close();
  await server.close();
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

/** Whether somebody listens there. */
async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

it("opens the ports of TCP listeners while they are there, and says what TLSRoutes and TCPRoutes lack", async () => {
  const [port, taken] = [await freePort(), createServer().listen(0, "127.0.0.1")];
  await once(taken, "listening");
  const listeners = [
    { name: "db", port, protocol: "TCP" },
    { name: "busy", port: (taken.address() as AddressInfo).port, protocol: "TCP" },
    { name: "tls", port: ports.https, protocol: "TLS", tls: { mode: "Passthrough" } },
  ];
  const gateways = objects("Gateway", "gateways");
  await gateways.create({ metadata: { name: "edge" }, spec: { gatewayClassName: "k8ts", listeners } });
  const backendRefs = [{ name: "db", port: 5432 }];
  const spec = { parentRefs: [{ name: "edge" }], rules: [{ backendRefs }] };
  await objects("TCPRoute", "tcproutes", "v1alpha2").create({ metadata: { name: "db" }, spec });
  const tlsRoutes = objects("TLSRoute", "tlsroutes");
  await tlsRoutes.create({ metadata: { name: "db" }, spec: { ...spec, hostnames: ["db.example"] } });

  const seen = async () =>
    (await gateways.get("edge")).status?.listeners?.map((each) => [each.attachedRoutes, words(each.conditions)[0]]);
  await expect.poll(seen).toEqual([
    [1, "Accepted True Accepted"],
    [0, "Accepted False PortUnavailable"],
    [1, "Accepted True Accepted"],
  ]);
  const route = async () => words((await tlsRoutes.get("db")).status?.parents?.[0]?.conditions);
  await expect.poll(route).toEqual(["Accepted True Accepted", "ResolvedRefs False BackendNotFound"]);
  expect(await isOpen(port)).toBe(true);
  await gateways.delete("edge");
  await expect.poll(() => isOpen(port)).toBe(false);
  taken.close();
});

it("judges BackendTLSPolicies as their ConfigMaps come, and refuses those that name no authority", async () => {
  const listeners = [{ name: "http", port: ports.http, protocol: "HTTP" }];
  const gateway = { metadata: { name: "front" }, spec: { gatewayClassName: "k8ts", listeners } };
  await objects("Gateway", "gateways").create(gateway);
  await client
    .of(kinds.Service)
    .in("default")
    .create({ metadata: { name: "secure" }, spec: { ports: [{ port: 443 }] } });
  const rules = [{ backendRefs: [{ name: "secure", port: 443 }] }];
  await objects("HTTPRoute", "httproutes").create({
    ...{ metadata: { name: "secure" }, spec: { parentRefs: [{ name: "front" }], rules } },
  });
  const policies = objects("BackendTLSPolicy", "backendtlspolicies");
  const targetRefs = [{ group: "", kind: "Service", name: "secure" }];
  const none = policies.create({ metadata: { name: "none" }, spec: { targetRefs, validation: { hostname: "a.b" } } });
  await expect(none).rejects.toThrow("must specify either CACertificateRefs or WellKnownCACertificates");
  const caCertificateRefs = [{ group: "", kind: "ConfigMap", name: "authority" }];
  const validation = { hostname: "secure.example", caCertificateRefs };
  await policies.create({ metadata: { name: "p" }, spec: { targetRefs, validation } });
  const seen = async () => words((await policies.get("p")).status?.ancestors?.[0]?.conditions);
  await expect
    .poll(seen)
    .toEqual(["Accepted False NoValidCACertificate", "ResolvedRefs False InvalidCACertificateRef"]);
  const { certPem } = await createAuthority({ commonName: "backends", clock });
  await client
    .of(kinds.ConfigMap)
    .in("default")
    .create({ metadata: { name: "authority" }, data: { "ca.crt": certPem } });
  await expect.poll(seen).toEqual(["Accepted True Accepted", "ResolvedRefs True ResolvedRefs"]);
});
