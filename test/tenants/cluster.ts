/** The cluster under test, in this process: a memory store, simulated nodes, all controllers, flows and the past. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { realClock, silentLogger } from "#base";
import { startCluster } from "#cluster";
import { Client, type Credentials } from "./client.ts";

export interface TestCluster extends AsyncDisposable {
  readonly admin: Client;
  readonly url: string;
  readonly ca: string;
  /** A user with a token. */
  as(token: string): Client;
}

export async function startTestCluster(nodes: number): Promise<TestCluster> {
  const dir = mkdtempSync(join(tmpdir(), "k8ts-tenants-"));
  const cluster = await startCluster(
    {
      dataDir: join(dir, "data"),
      mergeInto: join(dir, "config"),
      bindAddress: "127.0.0.1",
      port: 0,
      store: { kind: "memory" },
      runtimeConfig: "api/all=true",
      historyWindowMs: 30 * 60_000,
      flowRecords: "memory",
      nodes: { count: nodes, cpu: "8", memory: "16Gi" },
    },
    { clock: realClock(), log: silentLogger, progress: () => {} },
  );
  const { clusters, users } = parse(readFileSync(cluster.kubeconfig, "utf8"));
  const pem = (base64: string) => Buffer.from(base64, "base64").toString();
  const ca = pem(clusters[0].cluster["certificate-authority-data"]);
  const { "client-certificate-data": cert, "client-key-data": key } = users[0].user;
  const clients: Client[] = [];
  const client = (credentials: Omit<Credentials, "ca">) => {
    const made = new Client(cluster.url, { ca, ...credentials });
    clients.push(made);
    return made;
  };
  return {
    url: cluster.url,
    ca,
    admin: client({ certificate: { cert: pem(cert), key: pem(key) } }),
    as: (token) => client({ token }),
    async [Symbol.asyncDispose]() {
      for (const each of clients) each[Symbol.dispose]();
      await cluster.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
