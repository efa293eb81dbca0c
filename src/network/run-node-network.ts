/**
 * A node's network in one process: kube-proxy, NetworkPolicies, DNS and, if wanted, routes to the Pods of other nodes
 * and masquerading. The parts share their client and nothing else.
 */
import { type core, kinds } from "#api";
import { abortable, type Clock, type Logger, type MetricsRegistry, type Random, TaskGroup } from "#base";
import type { Client } from "#client";
import { type ApiBalancerOptions, runApiBalancer } from "./balancer/index.ts";
import { runDns, type UpstreamAddress } from "./dns/index.ts";
import { type Family, familyOf } from "./kernel/ip-family.ts";
import { type Program, runProgram } from "./kernel/program.ts";
import { type OverlayMode, runOverlay } from "./overlay/index.ts";
import { runMasquerade } from "./overlay/masquerade.ts";
import { runPolicy } from "./policy/run-policy.ts";
import { ApiServers } from "./proxy/api-servers.ts";
import { type NodeFacts, ZONE } from "./proxy/endpoints.ts";
import { Iptables } from "./proxy/iptables/apply.ts";
import type { ProxyMetrics } from "./proxy/metrics.ts";
import { Nftables } from "./proxy/nftables/apply.ts";
import { type Rules, runProxy } from "./proxy/run-proxy.ts";

const FAMILIES: readonly Family[] = ["IPv4", "IPv6"];
const NODE_RETRY_MS = 500;

export type ProxyMode = "nftables" | "iptables";

export interface NodeNetworkOptions {
  readonly client: Client;
  readonly nodeName: string;
  readonly clusterCidrs: readonly string[];
  readonly nodePortAddresses?: readonly string[] | undefined;
  /** kube-proxy mode. Default: nftables. */
  readonly proxyMode?: ProxyMode | undefined;
  readonly networkPolicy: boolean;
  readonly resyncMs?: number | undefined;
  /** How Pods on other nodes are reached. Absent: somebody else provides the routes. */
  readonly overlay?: OverlayMode | undefined;
  /** Masquerades traffic from Pods to addresses outside of the cluster. */
  readonly masqueradesOutside?: boolean | undefined;
  readonly dns?: {
    readonly addresses: readonly string[];
    readonly port: number;
    readonly zone: string;
    readonly upstreams: readonly UpstreamAddress[];
    readonly stubDomains: Readonly<Record<string, readonly UpstreamAddress[]>>;
    readonly hosts?: Readonly<Record<string, readonly string[]>>;
  };
  /** The balancer before the API servers. Absent: there is none. */
  readonly apiBalancer?:
    | Omit<ApiBalancerOptions, "client" | "onChange" | "onListening" | "clock" | "random" | "log">
    | undefined;
  readonly run?: Program;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Of kube-proxy. */
  readonly proxyMetrics: ProxyMetrics;
}

/** Until the signal aborts. */
export async function runNodeNetwork(options: NodeNetworkOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, metrics, run = runProgram, dns, networkPolicy, nodeName, clusterCidrs } = options;
  const tasks = new TaskGroup({ parent: signal });
  const apiServers = new ApiServers();
  const { apiBalancer } = options;
  // First: all else goes through it.
  if (apiBalancer !== undefined) {
    const listening = Promise.withResolvers<void>();
    const balancer = {
      ...apiBalancer,
      client,
      onListening: listening.resolve,
      onChange: apiServers.change,
      clock,
      random,
      log,
    };
    tasks.run("balancer of API servers", (running) => runApiBalancer(balancer, running));
    await abortable(listening.promise, tasks.signal);
  }
  const node = await nodeFacts(options, signal);
  const families = FAMILIES.filter((family) => node.addresses.some((each) => familyOf(each) === family));
  const shared = { client, clock, random, log, run, resyncMs: options.resyncMs };
  const rulesOptions = { families, podCidrs: clusterCidrs, run, log };
  const modes: Record<ProxyMode, Rules> = {
    nftables: new Nftables(rulesOptions),
    iptables: new Iptables(rulesOptions),
  };
  const { proxyMode = "nftables" } = options;
  const applied = Promise.withResolvers<void>();
  const onReady = () => {
    log.info("Services are applied", { mode: proxyMode });
    applied.resolve();
  };
  tasks.run("services", (running) =>
    runProxy({ ...shared, node, rules: modes[proxyMode], metrics: options.proxyMetrics, apiServers, onReady }, running),
  );
  tasks.run("rules of the other mode", async (running) => {
    await abortable(applied.promise, running);
    await removeOther(modes[proxyMode === "nftables" ? "iptables" : "nftables"], log, running);
  });
  const { overlay: mode } = options;
  if (mode !== undefined) {
    const overlay = { client, clock, random, log, run, nodeName, mode };
    const onRoutes = () => log.info("routes to Pods on other nodes are applied", { mode });
    tasks.run("routes to other nodes", (running) => runOverlay({ ...overlay, onReady: onRoutes }, running));
  }
  if (options.masqueradesOutside === true)
    tasks.run("masquerading", (running) => runMasquerade({ ...shared, families, podCidrs: clusterCidrs }, running));
  if (networkPolicy) {
    const policy = { ...shared, nodeName, families, nodeDns: dns?.addresses };
    tasks.run("network policies", (running) =>
      runPolicy({ ...policy, onReady: () => log.info("NetworkPolicies are applied") }, running),
    );
  }
  if (dns !== undefined) {
    tasks.run("DNS", (running) =>
      runDns({ ...shared, ...dns, metrics, onReady: () => log.info("DNS is serving", dns) }, running),
    );
  }
  await tasks.done();
}

/** Rules that an earlier run in the other mode left behind would handle all traffic twice. */
async function removeOther(rules: Rules, log: Logger, signal: AbortSignal): Promise<void> {
  try {
    await rules.remove(signal);
  } catch (error) {
    if (signal.aborted) throw error;
    // Without the programs of the other mode there are no rules of it.
    log.debug("rules of the other mode could not be removed", { error });
  }
}

/** Waits until the Node has an address. */
async function nodeFacts(options: NodeNetworkOptions, signal: AbortSignal): Promise<NodeFacts> {
  const { client, nodeName, clusterCidrs, nodePortAddresses, clock, log } = options;
  for (;;) {
    try {
      const node = await client.of(kinds.Node).get(nodeName, { signal });
      const addresses = nodePortAddresses ?? internalAddresses(node);
      const zone = node.metadata.labels?.[ZONE];
      if (addresses.length > 0) return { name: nodeName, addresses, podCidrs: clusterCidrs, zone };
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug("the Node does not exist yet", { node: nodeName, error });
    }
    await clock.sleep(NODE_RETRY_MS, signal);
  }
}

function internalAddresses({ status }: core.Node): string[] {
  return (status?.addresses ?? []).filter(({ type }) => type === "InternalIP").map(({ address }) => address);
}
