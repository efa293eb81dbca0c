/** Which devices the containers of a node have, and what their plugins answered about them. */

export interface Allocation {
  /** By NUMA node; -1 for devices that lie on none. */
  readonly devices: ReadonlyMap<number, readonly string[]>;
  /** The plugin's answer, encoded. */
  readonly response: Buffer;
}

export interface AllocationEntry extends Allocation {
  readonly podUid: string;
  readonly container: string;
  readonly resource: string;
}

export class Allocations {
  /** By Pod, container and resource. */
  readonly #pods = new Map<string, Map<string, Map<string, Allocation>>>();

  get(podUid: string, container: string, resource: string): Allocation | undefined {
    return this.#pods.get(podUid)?.get(container)?.get(resource);
  }

  /** By resource. */
  ofContainer(podUid: string, container: string): ReadonlyMap<string, Allocation> {
    return this.#pods.get(podUid)?.get(container) ?? new Map();
  }

  containers(podUid: string): readonly string[] {
    return [...(this.#pods.get(podUid)?.keys() ?? [])];
  }

  podUids(): ReadonlySet<string> {
    return new Set(this.#pods.keys());
  }

  set({ podUid, container, resource, devices, response }: AllocationEntry): void {
    const containers = this.#pods.get(podUid) ?? new Map<string, Map<string, Allocation>>();
    const resources = containers.get(container) ?? new Map<string, Allocation>();
    this.#pods.set(podUid, containers);
    containers.set(container, resources);
    resources.set(resource, { devices, response });
  }

  /** False if the Pod had nothing. */
  delete(podUid: string): boolean {
    return this.#pods.delete(podUid);
  }

  /** The devices of a resource that some container has. */
  inUse(resource: string): ReadonlySet<string> {
    return new Set(this.list().flatMap((entry) => (entry.resource === resource ? idsOf(entry) : [])));
  }

  list(): readonly AllocationEntry[] {
    const all: AllocationEntry[] = [];
    for (const [podUid, containers] of this.#pods)
      for (const [container, resources] of containers)
        for (const [resource, allocation] of resources) all.push({ podUid, container, resource, ...allocation });
    return all;
  }
}

export function idsOf({ devices }: Pick<Allocation, "devices">): readonly string[] {
  return [...new Set([...devices.values()].flat())];
}

const NO_NUMA_NODE = -1;

/** A device that lies on several is there several times. */
export function byNumaNode(
  ids: readonly string[],
  known: ReadonlyMap<string, { readonly numaNodes: readonly number[] }>,
): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>();
  for (const id of ids) {
    const nodes = known.get(id)?.numaNodes ?? [];
    for (const node of nodes.length === 0 ? [NO_NUMA_NODE] : nodes) found.set(node, [...(found.get(node) ?? []), id]);
  }
  return found;
}
