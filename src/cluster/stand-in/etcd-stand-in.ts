/**
 * Stands in for etcd where only an API server of k8ts uses it, as in controller-runtime's envtest: it answers what is
 * asked while etcd starts, and tells the API server in which folder to keep its own embedded store.
 *
 *     envtest ──► GET /health
 *     kube-apiserver ──► GET /k8ts/store ──► { dir, flush } ══► embedded store in that folder
 *
 * 1. It speaks no gRPC: what needs a real etcd gets a refusal that says so.
 * 2. The state is in the folder, not in this process: an API server that starts again finds it.
 */
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join, resolve } from "node:path";
import { K8TS_VERSION } from "#apiserver";
import { ClusterError } from "../config/errors.ts";

/** Where an API server asks what stands at the address of etcd. */
export const STORE_PATH = "/k8ts/store";

export interface StandInConfig {
  readonly dataDir: string;
  /** `http://host:port`. */
  readonly listenUrls: readonly string[];
  /** Whether writes wait for the disk. */
  readonly flush: boolean;
}

/** Where the embedded store is. */
export interface StandInStore {
  readonly dir: string;
  readonly flush: boolean;
}

const REFUSAL =
  "k8ts stands in for etcd here, and has no etcd API: only the kube-apiserver of k8ts can use it. For a real etcd, set K8TS_ENVTEST_ETCD.\n";

/** Serves until the signal aborts. */
export async function runEtcdStandIn(config: StandInConfig, listening: () => void, signal: AbortSignal): Promise<void> {
  const store: StandInStore = { dir: join(resolve(config.dataDir), "k8ts"), flush: config.flush };
  await mkdir(store.dir, { recursive: true, mode: 0o700 });
  await using servers = new AsyncDisposableStack();
  for (const url of config.listenUrls) {
    const server = await listen(url, answers(store));
    servers.defer(async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    });
  }
  listening();
  if (!signal.aborted) await once(signal, "abort");
}

function answers(store: StandInStore): ReadonlyMap<string, string> {
  const version = { etcdserver: `k8ts-${K8TS_VERSION}`, etcdcluster: `k8ts-${K8TS_VERSION}` };
  return new Map([
    ["/health", JSON.stringify({ health: "true", reason: "" })],
    ["/livez", "ok\n"],
    ["/readyz", "ok\n"],
    ["/version", JSON.stringify(version)],
    [STORE_PATH, JSON.stringify(store)],
  ]);
}

async function listen(url: string, known: ReadonlyMap<string, string>): Promise<Server> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "http:") throw new ClusterError(`${url}: the stand-in for etcd listens on http:// only.`);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", url);
    const answer = request.method === "GET" ? known.get(pathname) : undefined;
    if (answer === undefined) response.writeHead(404, { "content-type": "text/plain" }).end(REFUSAL);
    else
      response
        .writeHead(200, { "content-type": answer.startsWith("{") ? "application/json" : "text/plain" })
        .end(answer);
  });
  server.listen(Number(port), hostname.replace(/^\[|\]$/g, ""));
  try {
    await once(server, "listening");
  } catch (error) {
    throw new ClusterError(`${url} cannot be listened on: ${(error as Error).message}.`, { cause: error });
  }
  return server;
}
