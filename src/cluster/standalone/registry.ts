/**
 * `k8ts registry`: the registry of a cluster's machine, and what makes its nodes and developers' tools find it.
 *
 *     docker push localhost:5000/app ──► 127.0.0.1:5000 ─┐
 *     node: image localhost:5000/app ──► certs.d ──► the machine's address for nodes, port 5000 ─┴─► the registry
 *
 * 1. Real nodes read `localhost:5000` as the machine's registry: a folder in certs.d says so while it runs.
 * 2. The ConfigMap kube-public/local-registry-hosting (KEP 1755) tells tools its name, if a cluster runs.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { kinds } from "#api";
import { Client, https } from "#client";
import { readKubeconfig } from "#pki";
import { openRegistry } from "#registry";
import type { Environment } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { type DataDir, readMarker, writeFileAtomic } from "../data/data-dir.ts";

const LOOPBACK = "127.0.0.1";
const NAMES = ["localhost", LOOPBACK];
const CONFIG_MAP = { name: "local-registry-hosting", namespace: "kube-public" };
const HELP = "k8ts registry --help";

export interface StandaloneRegistryConfig {
  /** The cluster whose nodes pull from it. */
  readonly dataDir: DataDir;
  /** Where its images are. Default: in the data directory. */
  readonly dir?: string | undefined;
  readonly port: number;
  readonly onReady: (place: RegistryPlace) => void;
}

export interface RegistryPlace {
  readonly port: number;
  /** Whether real nodes pull from it. */
  readonly forNodes: boolean;
}

/** Runs until the signal aborts. */
export async function runStandaloneRegistry(
  { dataDir, dir, port, onReady }: StandaloneRegistryConfig,
  { clock, log }: Pick<Environment, "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const isCluster = (await readMarker(dataDir)) !== undefined;
  if (!isCluster && dir === undefined)
    throw new ClusterError(
      `There is no cluster in ${dataDir.path}: start one with \`k8ts up\`, or name a folder with --dir.`,
    );
  const side = isCluster ? await nodesSide(dataDir) : undefined;
  const hosts = side === undefined ? [LOOPBACK] : [LOOPBACK, side.machineIp];
  const options = { dir: dir ?? dataDir.registry, port, clock, log };
  const { registry, reached } = await openRegistry({ ...options, hosts }).then(
    (registry) => ({ registry, reached: side }),
    async (error: NodeJS.ErrnoException) => {
      // The nodes' network is there while a cluster with real nodes is.
      if (error.code !== "EADDRNOTAVAIL") throw explained(error, port);
      log.warn("no real nodes are running: this registry serves this machine alone until it is started again");
      return { registry: await openRegistry({ ...options, hosts: [LOOPBACK] }), reached: undefined };
    },
  );
  const folders =
    reached === undefined ? [] : NAMES.map((name) => join(reached.registryDir, `${name}:${registry.port}`));
  try {
    for (const folder of folders) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFileAtomic(join(folder, "hosts.toml"), hostsToml(`http://${reached?.machineIp}:${registry.port}`));
    }
    if (isCluster)
      await announce(dataDir, registry.port, reached?.machineIp).catch(() => log.info("no cluster is running"));
    onReady({ port: registry.port, forNodes: reached !== undefined });
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  } finally {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
    await registry.close();
  }

  async function announce(cluster: DataDir, at: number, machineIp: string | undefined): Promise<void> {
    const { server, caPem, client: credentials = {} } = await readKubeconfig(cluster.kubeconfig);
    const client = new Client({
      transport: https({ server, caPem, ...credentials }, { clock }),
      clock,
      userAgent: "k8ts-registry",
    });
    const data = { "localRegistryHosting.v1": hosting(at, machineIp) };
    const object = { metadata: CONFIG_MAP, data };
    await client.of(kinds.ConfigMap).apply(object, { fieldManager: "k8ts-registry", force: true, signal });
  }
}

async function nodesSide(dataDir: DataDir) {
  const { knownSiteNetwork, siteNames } = await import("../nodes/index.ts");
  const site = siteNames(dataDir.path);
  const network = await knownSiteNetwork(site);
  return network && { machineIp: network.machineIp, registryDir: site.registryDir };
}

function hostsToml(url: string): string {
  return `server = "${url}"\n\n[host."${url}"]\n  capabilities = ["pull", "resolve"]\n`;
}

function hosting(port: number, machineIp: string | undefined): string {
  const fromNodes = machineIp === undefined ? [] : [`hostFromContainerRuntime: "localhost:${port}"`];
  return [`host: "localhost:${port}"`, ...fromNodes, `help: "${HELP}"`, ""].join("\n");
}

function explained(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code !== "EADDRINUSE") return error;
  return new ClusterError(`Port ${port} is in use: choose another with --port.`, { cause: error });
}
