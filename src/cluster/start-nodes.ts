/** The phases of a start that are about nodes: their network, and the nodes themselves. */
import type { TaskGroup } from "#base";
import type { Fleet } from "#kubelet";
import type { ClusterConfig } from "./config/cluster-config.ts";
import type { OpenedRealNodes } from "./nodes/index.ts";
import { type Running, type Start, step } from "./start.ts";

const NO_NODE_TRACES =
  "The kubelets of these nodes are not traced: their networks have no way to the collector. Everything else is.";

/** The default range of Pod addresses is enough for this many nodes. */
const DEFAULT_RANGE_NODES = 256;
const WIDE_POD_RANGE = "10.128.0.0/9";

/** The network that real nodes share with this machine; undefined without real nodes. */
export async function openNodeNetwork(start: Start): Promise<OpenedRealNodes | undefined> {
  const { config, dir, starting, clock, random, log } = start;
  const { realNodes, outside } = config;
  if (realNodes === undefined) return undefined;
  const opened = await step("node network", start, async () => {
    const { openRealNodes } = await import("./nodes/index.ts");
    const opened = await openRealNodes({ dataDir: dir.path, config: realNodes, outside, clock, random, log });
    return [opened, `nodes reach this machine at ${opened.machineIp}`];
  });
  if (opened.isolationObstacle !== undefined)
    start.notes.push(
      `Nodes share the files and processes of this machine (${opened.isolationObstacle}): namespaces enforce the Pod Security level baseline by default.`,
    );
  start.keepNodes = opened.found;
  starting.defer(async () => {
    if (!start.keepNodes) await opened.powerOff();
  });
  return opened;
}

interface NodeFacts {
  readonly machineIp: string | undefined;
  readonly podSecurityLevel: "baseline" | undefined;
}

/** Without namespaces of their own, nodes cannot keep Pods from the machine: Pod Security has to. */
export function towardsNodes(realNodes: OpenedRealNodes | undefined): NodeFacts {
  const isShared = realNodes?.isolationObstacle !== undefined;
  return { machineIp: realNodes?.machineIp, podSecurityLevel: isShared ? "baseline" : undefined };
}

/** Ranges for the Pod CIDRs of nodes. Undefined: the default range. */
export function nodeCidrsOf(
  { nodes, listen, serviceCidrs = [] }: ClusterConfig,
  realNodes: OpenedRealNodes | undefined,
) {
  const clusterCidrs = realNodes?.podRanges ?? listen?.podRanges;
  if (clusterCidrs !== undefined) return { clusterCidrs, serviceCidrs };
  return (nodes?.count ?? 0) > DEFAULT_RANGE_NODES ? { clusterCidrs: [WIDE_POD_RANGE] } : undefined;
}

export async function startNodes(
  start: Start,
  { pki, api, tracing, background, realNodes }: Running & { readonly background: TaskGroup },
): Promise<Fleet | undefined> {
  const { config, dir, notes, clock, random, log } = start;
  const { nodes, serviceCidrs } = config;
  const { port, handle } = api;
  let simulated: Fleet | undefined;
  if (nodes !== undefined) {
    simulated = await step("nodes", start, async () => {
      const { addedSettings, simulatedNodes } = await import("./in-process/simulated-nodes.ts");
      const { nodeUsage } = await import("./in-process/node-usage.ts");
      const { usageFile } = nodes;
      const usage = usageFile === undefined ? undefined : await nodeUsage(usageFile, { background, clock, log });
      const own = start.between?.("kubelet", handle) ?? handle;
      const fleet = simulatedNodes({ nodes, usage, handle: own, tracing, clock, random, log });
      background.run("simulated nodes", (signal) => fleet.run(signal));
      await fleet.ready;
      const { followAddedNodes } = await import("./in-process/added-nodes.ts");
      const settingsOf = addedSettings(nodes);
      background.run("added nodes", (signal) =>
        followAddedNodes({ handle, fleet, settingsOf, clock, random, log }, signal),
      );
      return [fleet, `${nodes.count} simulated`];
    });
  }
  if (realNodes !== undefined) {
    if (tracing !== undefined) notes.push(NO_NODE_TRACES);
    await step("nodes", start, async () => {
      const {
        ready,
        wanted,
        notes: more,
      } = await realNodes.run({
        dir,
        port,
        handle,
        authority: pki.ca,
        background,
        serviceCidrs,
        featureGates: gatesOfNodes(start),
        localStorage: config.localStorage,
      });
      notes.push(...more);
      if (ready < wanted) notes.push(`${wanted - ready} of ${wanted} nodes are not ready yet; see ${dir.nodes}.`);
      return [undefined, `${ready} ready, on containerd`];
    });
  }
  return simulated;
}

/** A flag for the programs of a node. They emulate no other version, so its gates are not theirs. */
function gatesOfNodes({ config, log }: Start): string | undefined {
  const { gates, emulatedVersion } = config.features ?? {};
  if (emulatedVersion === undefined) return gates;
  log.warn("nodes have the features of v1.36: --emulated-version and its --feature-gates do not reach them");
  return undefined;
}
