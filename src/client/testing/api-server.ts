/** A real API server on a free port, with its certificates, for tests of clients. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiServer, startApiServer } from "#apiserver";
import { MetricsRegistry, realClock, silentLogger, systemRandom } from "#base";
import type { HttpsConnection } from "#client";
import { ensureClusterPki } from "#pki";
import { openStore } from "#store";

export const TOKEN = "a-token-of-the-tests";

export interface TestApiServer {
  readonly server: ApiServer;
  readonly connection: HttpsConnection;
  /** Stops it, and starts it again on the same port and store. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startTestApiServer(): Promise<TestApiServer> {
  const clock = realClock();
  const dir = await mkdtemp(join(tmpdir(), "k8ts-client-"));
  const pki = await ensureClusterPki(dir, {
    clock,
    serverNames: { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] },
  });
  const store = await openStore({ kind: "memory", clock });
  const start = (port: number) =>
    startApiServer({
      host: "127.0.0.1",
      port,
      certificate: { ...pki.apiserver, clientCaPem: pki.ca.certPem },
      store,
      sharedStore: false,
      authentication: { tokens: new Map([[TOKEN, { name: "tester", groups: ["system:masters"] }]]) },
      clock,
      random: systemRandom(),
      log: silentLogger,
      metrics: new MetricsRegistry(),
    });
  let server = await start(0);
  const { port } = server;
  return {
    get server() {
      return server;
    },
    connection: { server: `https://127.0.0.1:${port}`, caPem: pki.ca.certPem, ...pki.admin },
    async restart() {
      await server.stop();
      server = await start(port);
    },
    async stop() {
      await server.stop();
      await store.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
