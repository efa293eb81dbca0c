/**
 * What keeps the nodes of this machine, in the cluster's process or in that of a machine that joined: the loop over
 * nodes, and the relays for their image pulls and their DNS questions.
 */
import { once } from "node:events";
import type { core } from "#api";
import { K8TS_VERSION } from "#apiserver";
import type { Clock, Logger, TaskGroup } from "#base";
import type { Informer } from "#client";
import type { RealNodesConfig } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { openDnsRelay } from "./outside/dns-relay.ts";
import { changingResolver, machineResolver, nodeResolvConf } from "./outside/machine-resolver.ts";
import type { KubeletOptions } from "./programs/kubelet.ts";
import type { RealNodes } from "./real-nodes.ts";
import { openPullProxy } from "./runtime/pull-proxy.ts";
import { listNodes } from "./site/record.ts";

const POLL_MS = 50;
const READY_TIMEOUT_MS = 60_000;
/** This machine, for Pods. */
export const HOST_ALIAS = "host.k8ts.internal";

/** What nodes have to know of their cluster. */
export type ClusterAccess = Pick<
  KubeletOptions,
  "serverUrl" | "authority" | "serviceRanges" | "featureGates" | "localStorage" | "apiBalancer" | "credentialProviders"
> & { readonly clusterDns: string };

export interface RunNodesOptions {
  readonly nodes: RealNodes;
  readonly config: RealNodesConfig;
  /** Whether nodes reach what this machine reaches. */
  readonly outside: boolean;
  readonly access: ClusterAccess;
  /** The Nodes in the API: those of this machine at least. */
  readonly inApi: Informer<core.Node>;
  readonly background: TaskGroup;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Returns what the processes of nodes are started with. */
export async function runNodes(options: RunNodesOptions): Promise<KubeletOptions> {
  const { nodes, config, outside, access, inApi, background } = options;
  const { machineIp, machineIp6, podRanges, relays, agent } = nodes.network;
  inApi.onChange(({ type, object }) => {
    const { podCIDRs = [] } = object.spec ?? {};
    if (type !== "deleted" && podCIDRs.length > 0) nodes.learnPodCidrs(object.metadata.name ?? "", podCIDRs);
  });
  const kubelet: KubeletOptions = {
    ...access,
    ...agent,
    command: config.command,
    proxyCommand: config.proxyCommand,
    version: K8TS_VERSION,
    podRanges,
    resolvConf: nodeResolvConf(access.clusterDns, await machineResolver()),
    dnsUpstreams: outside ? [`${relays.host}:${relays.dns}`] : [],
    dnsHosts: { [HOST_ALIAS]: [machineIp, ...(machineIp6 === undefined ? [] : [machineIp6])] },
    proxyMode: config.proxyMode,
  };
  background.run("real nodes", (signal) => nodes.run(kubelet, signal));
  await runRelays(options);
  return kubelet;
}

async function runRelays({ nodes, outside, background, clock, log }: RunNodesOptions): Promise<void> {
  const { relays, pullSecret } = nodes.network;
  const { registries } = nodes;
  const named = () => registries.named();
  const rewrites = () => registries.compiled.rewrites;
  const pulls = { secret: pullSecret, allowed: outside, named, rewrites, log };
  const proxy = await openOrExplain(relays.pullProxy, () =>
    openPullProxy({ host: relays.host, port: relays.pullProxy, ...pulls }),
  );
  background.run("image pulls", async (signal) => {
    if (!signal.aborted) await once(signal, "abort");
    await proxy.close();
  });
  if (!outside) return;
  const resolver = changingResolver();
  const servers = async () => (await resolver()).servers;
  const relay = await openOrExplain(relays.dns, () =>
    openDnsRelay({ host: relays.host, port: relays.dns, servers, clock, log }),
  );
  background.run("DNS questions of nodes", async (signal) => {
    if (!signal.aborted) await once(signal, "abort");
    await relay.close();
  });
}

/** On loopback another cluster may listen there. */
async function openOrExplain<T>(port: number, open: () => Promise<T>): Promise<T> {
  return open().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new ClusterError(`Port ${port} of this machine is in use: another cluster's node may have this machine.`, {
      cause: error,
    });
  });
}

/** Resolves when every node is Ready, or after a minute. */
export async function untilReady(
  { nodes, inApi, background, clock }: RunNodesOptions,
  timeoutMs = READY_TIMEOUT_MS,
): Promise<{ readonly ready: number; readonly wanted: number }> {
  const deadline = clock.monotonic() + timeoutMs;
  for (;;) {
    const wanted = (await listNodes(nodes.site)).filter(({ spec }) => spec.wanted === "running");
    const ready = wanted.filter(
      ({ names, run }) => run?.state === "running" && isReady(inApi.cache.get(names.name)),
    ).length;
    if (ready === wanted.length || clock.monotonic() >= deadline) return { ready, wanted: wanted.length };
    await clock.sleep(POLL_MS, background.signal);
  }
}

function isReady(node: core.Node | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}
