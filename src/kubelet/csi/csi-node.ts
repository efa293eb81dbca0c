/**
 * The CSI drivers of a node, in the API: its CSINode, the topology labels of its Node, and the drivers' names for it.
 *
 * 1. Drivers that others have added stay: a kubelet removes only what it has seen go.
 */
import { type core, isStatusError, kinds, type storage } from "#api";
import type { Client } from "#client";

export interface NodeDriver {
  readonly name: string;
  readonly nodeId: string;
  /** 0: no limit. */
  readonly maxVolumes: number;
  readonly topology: Readonly<Record<string, string>>;
}

const NODE_IDS = "csi.volume.kubernetes.io/nodeid";
const ATTEMPTS = 10;

export class CsiNodeObject {
  readonly #client: Client;
  readonly #nodeName: string;

  constructor(client: Client, nodeName: string) {
    this.#client = client;
    this.#nodeName = nodeName;
  }

  /** Every node has one, with or without drivers. Drivers of a kubelet before this one stay in it. */
  async ensure(signal: AbortSignal): Promise<void> {
    const node = await this.#client.of(kinds.Node).get(this.#nodeName, { signal });
    await this.#change((drivers) => drivers, node, signal, "create");
  }

  async add(driver: NodeDriver, signal: AbortSignal): Promise<void> {
    const node = await this.#client.of(kinds.Node).get(this.#nodeName, { signal });
    const clash = topologyClash(node, driver);
    if (clash !== undefined) throw new Error(clash);
    await this.#patchNode(driver.topology, nodeIds(node, driver.name, driver.nodeId), signal);
    await this.#change((drivers) => withDriver(drivers, driver), node, signal);
  }

  /** Only the limit: the rest of a driver does not change while it runs. */
  async limit(name: string, maxVolumes: number, signal: AbortSignal): Promise<void> {
    const found = await this.#client.of(kinds.CSINode).get(this.#nodeName, { signal });
    const current = found.spec.drivers?.find((each) => each.name === name);
    if (current === undefined || Number(current.allocatable?.count ?? 0) === bounded(maxVolumes)) return;
    const node = await this.#client.of(kinds.Node).get(this.#nodeName, { signal });
    await this.#change(
      (drivers) => drivers.map((each) => (each.name === name ? limited(each, maxVolumes) : each)),
      node,
      signal,
    );
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    const node = await this.#client.of(kinds.Node).get(this.#nodeName, { signal });
    await this.#patchNode({}, nodeIds(node, name, undefined), signal);
    await this.#change((drivers) => drivers.filter((each) => each.name !== name), node, signal);
  }

  async #patchNode(
    labels: Readonly<Record<string, string>>,
    ids: string | null | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (ids === undefined && Object.keys(labels).length === 0) return;
    const annotations = ids === undefined ? {} : { [NODE_IDS]: ids };
    const object = { metadata: { labels, annotations } };
    await this.#client.of(kinds.Node).patch(this.#nodeName, { type: "strategic", object }, { signal });
  }

  async #change(
    changed: (drivers: readonly storage.CSINodeDriver[]) => readonly storage.CSINodeDriver[],
    node: core.Node,
    signal: AbortSignal,
    what: "create" | "change" = "change",
  ): Promise<void> {
    const nodes = this.#client.of(kinds.CSINode);
    for (let attempt = 1; ; attempt++) {
      const found = await nodes.get(this.#nodeName, { signal }).catch((error: unknown) => {
        if (isStatusError(error, "NotFound")) return undefined;
        throw error;
      });
      try {
        if (found === undefined) await nodes.create(newCsiNode(node, changed([])), { signal });
        else if (what === "change")
          await nodes.update(
            { ...found, spec: { ...found.spec, drivers: changed(found.spec.drivers ?? []) } },
            { signal },
          );
        return;
      } catch (error) {
        const isRace = isStatusError(error, "Conflict") || isStatusError(error, "AlreadyExists");
        if (!isRace || attempt === ATTEMPTS) throw error;
      }
    }
  }
}

function newCsiNode({ metadata }: core.Node, drivers: readonly storage.CSINodeDriver[]): storage.CSINode {
  const { name = "", uid = "" } = metadata;
  return {
    metadata: { name, ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] },
    spec: { drivers },
  };
}

/** A driver that registers again may have another id or limit. */
export function withDriver(
  drivers: readonly storage.CSINodeDriver[],
  { name, nodeId, maxVolumes, topology }: NodeDriver,
): readonly storage.CSINodeDriver[] {
  const own: storage.CSINodeDriver = {
    name,
    nodeID: nodeId,
    topologyKeys: Object.keys(topology).sort(),
    ...(maxVolumes > 0 && { allocatable: { count: bounded(maxVolumes) } }),
  };
  return [...drivers.filter((each) => each.name !== name), own];
}

function limited({ allocatable: _, ...driver }: storage.CSINodeDriver, maxVolumes: number): storage.CSINodeDriver {
  return maxVolumes > 0 ? { ...driver, allocatable: { count: bounded(maxVolumes) } } : driver;
}

function bounded(maxVolumes: number): number {
  return Math.min(maxVolumes, 2 ** 31 - 1);
}

/** The annotation that it should have: null removes it, undefined leaves it as it is. */
export function nodeIds({ metadata }: core.Node, driver: string, id: string | undefined): string | null | undefined {
  const before = metadata.annotations?.[NODE_IDS];
  const ids = new Map(Object.entries(parsed(before)));
  if (ids.get(driver) === id) return undefined;
  if (id === undefined) ids.delete(driver);
  else ids.set(driver, id);
  return ids.size === 0 ? null : JSON.stringify(Object.fromEntries(ids));
}

function parsed(text: string | undefined): Readonly<Record<string, string>> {
  try {
    return JSON.parse(text ?? "{}") as Record<string, string>;
  } catch {
    return {};
  }
}

/** A label that is there with another value is somebody else's. */
export function topologyClash({ metadata }: core.Node, { topology, name }: NodeDriver): string | undefined {
  for (const [key, value] of Object.entries(topology)) {
    const found = metadata.labels?.[key];
    if (found !== undefined && found !== value)
      return `detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${found}" (driver ${name})`;
  }
  return undefined;
}
