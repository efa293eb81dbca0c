/** Each zone's share of the cluster's CPUs, from which traffic is estimated. */
import { type core, parseQuantity, scaledValue } from "#api";

export const ZONE = "topology.kubernetes.io/zone";
const MILLI = -3;

/** By zone, ordered by name; the sum is 1. */
export type ZoneShares = ReadonlyMap<string, number>;

/** Undefined: a node has no zone or CPU, or there is only one zone. */
export function zoneShares(nodes: Iterable<core.Node>): ZoneShares | undefined {
  const cpus = new Map<string, number>();
  let total = 0;
  for (const node of nodes) {
    if (!isCounted(node)) continue;
    const zone = zoneOf(node);
    const cpu = Number(scaledValue(parseQuantity(cpuOf(node)), MILLI));
    if (zone === "" || cpu === 0) return undefined;
    cpus.set(zone, (cpus.get(zone) ?? 0) + cpu);
    total += cpu;
  }
  if (cpus.size < 2) return undefined;
  const sorted = [...cpus].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(sorted.map(([zone, cpu]) => [zone, cpu / total]));
}

/** Whether a change of a node may change the shares. */
export function sharesMayChange(old: core.Node, node: core.Node): boolean {
  return isCounted(old) !== isCounted(node) || zoneOf(old) !== zoneOf(node) || cpuOf(old) !== cpuOf(node);
}

/** Schedulable, ready worker nodes. */
function isCounted({ metadata: { labels = {} }, status }: core.Node): boolean {
  if ("node-role.kubernetes.io/control-plane" in labels || "node-role.kubernetes.io/master" in labels) return false;
  return status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
}

const zoneOf = ({ metadata }: core.Node) => metadata.labels?.[ZONE] ?? "";
const cpuOf = ({ status }: core.Node) => status?.allocatable?.cpu ?? "0";
