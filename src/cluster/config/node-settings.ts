/** What the configuration of a cluster means for its nodes: ranges of their Pods, gates of their programs. */
import type { Logger } from "#base";
import type { ClusterConfig } from "./cluster-config.ts";

/** The default range of Pod addresses is enough for this many nodes. */
const DEFAULT_RANGE_NODES = 256;
const WIDE_POD_RANGE = "10.128.0.0/9";

/** Ranges for the Pod CIDRs of nodes. Undefined: the default range. `podRanges`: those of real nodes. */
export function nodeCidrsOf({ nodes, serviceCidrs = [] }: ClusterConfig, podRanges: readonly string[] | undefined) {
  if (podRanges !== undefined) return { clusterCidrs: podRanges, serviceCidrs };
  return (nodes?.count ?? 0) > DEFAULT_RANGE_NODES ? { clusterCidrs: [WIDE_POD_RANGE] } : undefined;
}

/** A flag for the programs of a node. They emulate no other version, so its gates are not theirs. */
export function gatesOfNodes(config: ClusterConfig, log: Logger): string | undefined {
  const { gates, emulatedVersion } = config.features ?? {};
  if (emulatedVersion === undefined) return gates;
  log.warn("nodes have the features of v1.36: --emulated-version and its --feature-gates do not reach them");
  return undefined;
}
