/**
 * Which devices of a resource a container gets. Only the plugin's own preference is asked for on the way.
 *
 *     reusable ──► on the NUMA nodes of the affinity ──► the plugin's preference ──► on other nodes ──► on no node
 *
 * 1. Devices of init containers that have ended are used before others.
 * 2. A plugin's preference never breaks the affinity, and need not be complete.
 */
import type { PluginDevice } from "./known-devices.ts";

export interface Choice {
  readonly resource: string;
  readonly needed: number;
  readonly devices: ReadonlyMap<string, PluginDevice>;
  readonly healthy: ReadonlySet<string>;
  readonly inUse: ReadonlySet<string>;
  readonly reusable: ReadonlySet<string>;
  /** NUMA nodes; undefined: any. */
  readonly affinity: ReadonlySet<number> | undefined;
  /** Of the available ones, all of `chosen` and others, as many as are needed; may be fewer. */
  prefer(available: readonly string[], chosen: readonly string[], size: number): Promise<readonly string[]>;
}

/** Throws with the kubelet's words if there are too few. */
export async function chooseDevices(choice: Choice): Promise<readonly string[]> {
  const { resource, needed, healthy, inUse, reusable } = choice;
  const chosen = new Set<string>();
  /** Whether that is enough. */
  const take = (ids: Iterable<string>) => {
    for (const id of ids) {
      if (chosen.size >= needed) break;
      chosen.add(id);
    }
    return chosen.size >= needed;
  };
  if (take([...reusable].filter((id) => healthy.has(id)))) return [...chosen];
  const available = [...healthy].filter((id) => !inUse.has(id) && !chosen.has(id));
  const missing = needed - chosen.size;
  if (available.length < missing)
    throw new Error(
      `requested number of devices unavailable for ${resource}. Requested: ${missing}, Available: ${available.length}`,
    );
  const { aligned, others } = split(choice, available);
  const preferred = async (from: readonly string[]) => {
    const wished = new Set(await choice.prefer([...from, ...chosen], [...chosen], needed));
    return from.filter((id) => wished.has(id));
  };
  if (missing < aligned.length) {
    if (!take(await preferred(aligned))) take(aligned);
    return [...chosen];
  }
  if (!take(aligned) && !take(await preferred(available))) take(others);
  return [...chosen];
}

/** By affinity. Devices that lie nowhere come last; scarce NUMA nodes first. */
function split({ devices, affinity }: Choice, available: readonly string[]) {
  const numaOf = (id: string) => devices.get(id)?.numaNodes ?? [];
  const hasTopology = [...devices.values()].some(({ numaNodes }) => numaNodes.length > 0);
  if (affinity === undefined || !hasTopology) return { aligned: [], others: available };
  const count = (node: number) => available.filter((id) => numaOf(id).includes(node)).length;
  const rank = (id: string) => Math.min(Number.MAX_SAFE_INTEGER, ...numaOf(id).map(count));
  const sorted = [...available].sort((a, b) => rank(a) - rank(b));
  const isAligned = (id: string) => numaOf(id).some((node) => affinity.has(node));
  return { aligned: sorted.filter(isAligned), others: sorted.filter((id) => !isAligned(id)) };
}
