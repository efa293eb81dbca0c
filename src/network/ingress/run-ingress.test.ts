/** The ingress on an API server in memory: what it serves, shows and writes follows the objects. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kinds, type networking } from "#api";
import { MetricsRegistry, realClock, seededRandom, silentLogger, TaskGroup } from "#base";
import { Client, inProcess } from "#client";
import { createAuthority } from "#pki";
import { type TestServer, testServer } from "../../apiserver/testing/index.ts";
import { ingressOf } from "../http/testing/site.ts";
import { runIngress } from "./run-ingress.ts";

const clock = realClock();
const tasks = new TaskGroup();
const metrics = new MetricsRegistry();
let server: TestServer;
let client: Client;
let ports: { readonly http: number | undefined; readonly https: number | undefined };

beforeAll(async () => {
  server = await testServer();
  const user = { name: "admin", groups: ["system:masters"] };
  client = new Client({ transport: inProcess(server.handle, user), clock });
  const ready = Promise.withResolvers<typeof ports>();
  tasks.run("ingress", (signal) =>
    runIngress(
      {
        ...{ client, clock, metrics, random: seededRandom(1), log: silentLogger },
        ...{ address: "127.0.0.1", httpPort: 0, httpsPort: 0, drainMs: 0, ensuresClass: true },
        publishedAddresses: ["192.0.2.1", "ingress.example.org"],
        onReady: ready.resolve,
      },
      signal,
    ),
  );
  ports = await ready.promise;
});

afterAll(async () => {
  await tasks.stop();
  await client.close();
  await server.close();
});

async function status(host: string): Promise<number | undefined> {
  const sent = request({ host: "127.0.0.1", port: ports.http, path: "/", headers: { host }, agent: false });
  sent.end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

async function shown(servername: string): Promise<string | undefined> {
  const socket: TLSSocket = connect({
    ...{ host: "127.0.0.1", port: ports.https ?? 0, servername, rejectUnauthorized: false },
  });
  try {
    await once(socket, "secureConnect");
    return String(socket.getPeerCertificate().subject.CN);
  } catch {
    return undefined; // nothing to show
  } finally {
    socket.destroy();
  }
}

const ingresses = () => client.of(kinds.Ingress).in("default");

it("makes its class, serves what is of it, and says where", async () => {
  expect((await client.of(kinds.IngressClass).get("k8ts")).spec).toEqual({ controller: "k8ts.dev/ingress" });
  const own = ingressOf("own", ["own.org", "/", "web"]);
  const other = ingressOf("other", ["other.org", "/", "web"]);
  await ingresses().create({ ...own, spec: { ...own.spec, ingressClassName: "k8ts" } });
  await ingresses().create({ ...other, spec: { ...other.spec, ingressClassName: "someone-else" } });
  // There is a route, and nobody behind it.
  await expect.poll(() => status("own.org")).toBe(503);
  expect(await status("other.org")).toBe(404);
  const addresses = async (name: string) => (await ingresses().get(name)).status?.loadBalancer?.ingress;
  await expect.poll(() => addresses("own")).toEqual([{ ip: "192.0.2.1" }, { hostname: "ingress.example.org" }]);
  expect(await addresses("other")).toBeUndefined();
  await ingresses().delete("own");
  await expect.poll(() => status("own.org")).toBe(404);
});

it("follows certificates, and tells of those that are missing", async () => {
  const tls: networking.IngressTLS[] = [{ hosts: ["tls.org"], secretName: "cert" }];
  const given = ingressOf("tls", ["tls.org", "/", "web"]);
  await ingresses().create({ ...given, spec: { ...given.spec, ingressClassName: "k8ts", tls } });
  const events = async () => (await server.request("GET", "/apis/events.k8s.io/v1/namespaces/default/events")).text;
  await expect.poll(events).toContain("BadCertificate");
  expect(await shown("tls.org")).toBeUndefined();
  const authority = await createAuthority({ commonName: "test", clock });
  const { certPem, keyPem } = await authority.issue({
    commonName: "tls.org",
    dnsNames: ["tls.org"],
    usages: ["server"],
  });
  const data = {
    "tls.crt": Buffer.from(certPem).toString("base64"),
    "tls.key": Buffer.from(keyPem).toString("base64"),
  };
  await client
    .of(kinds.Secret)
    .in("default")
    .create({ metadata: { name: "cert" }, type: "kubernetes.io/tls", data });
  await expect.poll(() => shown("tls.org")).toBe("tls.org");
  expect(metrics.text()).toMatch(/k8ts_ingress_routes 1\b/);
});
