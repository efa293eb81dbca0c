/** What part of a cluster's processors each zone has: by that, traffic is to be expected from there. */
import { type core, parseQuantity, scaledValue } from "#api";

export const ZONE = "topology.kubernetes.io/zone";
const MILLI = -3;

/** By name, in the order of their names; they add up to 1. */
export type ZoneShares = ReadonlyMap<string, number>;

/** Undefined: it cannot be said, because a node that counts does not say where it is or what it has, or because there is only one zone. */
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

/** Whether the shares may be others than they were. */
export function sharesMayChange(old: core.Node, node: core.Node): boolean {
  return isCounted(old) !== isCounted(node) || zoneOf(old) !== zoneOf(node) || cpuOf(old) !== cpuOf(node);
}

/** Those that run what users ask for, now. */
function isCounted({ metadata: { labels = {} }, status }: core.Node): boolean {
  if ("node-role.kubernetes.io/control-plane" in labels || "node-role.kubernetes.io/master" in labels) return false;
  return status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
}

const zoneOf = ({ metadata }: core.Node) => metadata.labels?.[ZONE] ?? "";
const cpuOf = ({ status }: core.Node) => status?.allocatable?.cpu ?? "0";
