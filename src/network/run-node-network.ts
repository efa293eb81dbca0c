/**
 * All that a node's network needs, in one process: Services, NetworkPolicies, DNS, and where they are asked for, ways to other nodes' Pods and out of the
 * cluster. They share their client and nothing else; what one of them does not need the others still do.
 */
import type { core } from "#api";
import { abortable, type Clock, type Logger, type MetricsRegistry, type Random, TaskGroup } from "#base";
import type { Client } from "#client";
import { runDns, type UpstreamAddress } from "./dns/index.ts";
import { Node, ZONE } from "./kernel/kinds.ts";
import { type Program, runProgram } from "./kernel/program.ts";
import { type OverlayMode, runOverlay } from "./overlay/index.ts";
import { runMasquerade } from "./overlay/masquerade.ts";
import { runPolicy } from "./policy/run-policy.ts";
import type { NodeFacts } from "./proxy/endpoints.ts";
import { Iptables } from "./proxy/iptables/apply.ts";
import { Nftables } from "./proxy/nftables/apply.ts";
import { type Rules, runProxy } from "./proxy/run-proxy.ts";
import type { Family } from "./proxy/virtual-addresses.ts";

const FAMILIES: readonly Family[] = ["IPv4", "IPv6"];
const NODE_RETRY_MS = 500;

export type ProxyMode = "nftables" | "iptables";

export interface NodeNetworkOptions {
  readonly client: Client;
  readonly nodeName: string;
  readonly clusterCidrs: readonly string[];
  readonly nodePortAddresses?: readonly string[];
  /** By which the kernel is told of Services. Default: nftables. */
  readonly proxyMode?: ProxyMode;
  readonly networkPolicy: boolean;
  readonly resyncMs?: number;
  /** How Pods on other nodes are reached. Absent: somebody else sees to that. */
  readonly overlay?: OverlayMode;
  /** Whether what Pods send out of the cluster looks as if the node had sent it. */
  readonly masqueradesOutside?: boolean;
  readonly dns?: {
    readonly addresses: readonly string[];
    readonly port: number;
    readonly zone: string;
    readonly upstreams: readonly UpstreamAddress[];
    readonly stubDomains: Readonly<Record<string, readonly UpstreamAddress[]>>;
  };
  readonly run?: Program;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/** Until the signal aborts. */
export async function runNodeNetwork(options: NodeNetworkOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, metrics, run = runProgram, dns, networkPolicy, nodeName, clusterCidrs } = options;
  const node = await nodeFacts(options, signal);
  const families = FAMILIES.filter((family) =>
    node.addresses.some((each) => each.includes(":") === (family === "IPv6")),
  );
  const tasks = new TaskGroup({ parent: signal });
  const shared = {
    client,
    clock,
    random,
    log,
    run,
    ...(options.resyncMs !== undefined && { resyncMs: options.resyncMs }),
  };
  const rulesOptions = { families, podCidrs: clusterCidrs, run, log };
  const modes: Record<ProxyMode, Rules> = {
    nftables: new Nftables(rulesOptions),
    iptables: new Iptables(rulesOptions),
  };
  const { proxyMode = "nftables" } = options;
  const placed = Promise.withResolvers<void>();
  const onReady = () => {
    log.info("Services are in place", { by: proxyMode });
    placed.resolve();
  };
  tasks.run("services", (running) => runProxy({ ...shared, node, rules: modes[proxyMode], metrics, onReady }, running));
  tasks.run("rules of the other mode", async (running) => {
    await abortable(placed.promise, running);
    await removeOther(modes[proxyMode === "nftables" ? "iptables" : "nftables"], log, running);
  });
  const { overlay: mode } = options;
  if (mode !== undefined) {
    const overlay = { client, clock, random, log, run, nodeName, mode };
    const placedWays = () => log.info("ways to Pods on other nodes are in place", { by: mode });
    tasks.run("ways to other nodes", (running) => runOverlay({ ...overlay, onReady: placedWays }, running));
  }
  if (options.masqueradesOutside === true)
    tasks.run("ways out", (running) => runMasquerade({ ...shared, families, podCidrs: clusterCidrs }, running));
  if (networkPolicy) {
    const policy = { ...shared, nodeName, families, ...(dns !== undefined && { nodeDns: dns.addresses }) };
    tasks.run("network policies", (running) =>
      runPolicy({ ...policy, onReady: () => log.info("NetworkPolicies are in place") }, running),
    );
  }
  if (dns !== undefined) {
    tasks.run("DNS", (running) =>
      runDns({ ...shared, ...dns, metrics, onReady: () => log.info("DNS is answering", dns) }, running),
    );
  }
  await tasks.done();
}

/** What an earlier run in the other mode left behind would do everything twice. */
async function removeOther(rules: Rules, log: Logger, signal: AbortSignal): Promise<void> {
  try {
    await rules.remove(signal);
  } catch (error) {
    if (signal.aborted) throw error;
    // A machine without the other mode's programs has no rules of it.
    log.debug("there are no rules of the other mode", { error });
  }
}

/** Waits for the Node, which may come later than this. */
async function nodeFacts(options: NodeNetworkOptions, signal: AbortSignal): Promise<NodeFacts> {
  const { client, nodeName, clusterCidrs, nodePortAddresses, clock, log } = options;
  for (;;) {
    try {
      const node = await client.of(Node).get(nodeName, { signal });
      const addresses = nodePortAddresses ?? internalAddresses(node);
      const zone = node.metadata.labels?.[ZONE];
      if (addresses.length > 0)
        return { name: nodeName, addresses, podCidrs: clusterCidrs, ...(zone !== undefined && { zone }) };
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug("the node is not there yet", { node: nodeName, error });
    }
    await clock.sleep(NODE_RETRY_MS, signal);
  }
}

function internalAddresses({ status }: core.Node): string[] {
  return (status?.addresses ?? []).filter(({ type }) => type === "InternalIP").map(({ address }) => address);
}
