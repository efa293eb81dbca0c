/**
 * The number of volumes of a driver that each node can still attach, cached by node.
 *
 * 1. A node is counted again after a change of its generation, of its CSINode or of an attachment to it, and after the
 *    volume behind a counted claim or attachment has changed. Claims and volumes of unplaced Pods change nothing.
 * 2. Forks are not nodes of the cluster: nothing is cached for them.
 */
import { type core, kinds } from "#api";
import { type Informers, objectKey } from "#client";
import type { ClusterView, NodeInfo, OpenNodes } from "../../framework/index.ts";
import type { VolumeObjects } from "../volume-objects.ts";
import { attachedTo, limitOf, volumeOf } from "./attached.ts";

const UNLIMITED = 2 ** 31 - 1;

interface Kept {
  /** By node index. */
  room: Int32Array;
  /** The generation of the node that was counted. */
  seen: Float64Array;
}

export class VolumeRoom {
  readonly #view: ClusterView;
  readonly #objects: VolumeObjects;
  readonly #kept = new Map<string, Kept>();
  /** Driver and volume of counted claims. */
  readonly #counted = new Map<string, string>();
  /** Number of attachments by volume name. */
  readonly #attached = new Map<string, number>();

  constructor(view: ClusterView, objects: VolumeObjects, informers: Informers) {
    this.#view = view;
    this.#objects = objects;
    informers.of(kinds.PersistentVolumeClaim).onChange(({ object }) => this.#check(objectKey(object)));
    informers.of(kinds.PersistentVolume).onChange(({ type, object, old }) => {
      if (type !== "updated" && this.#attached.has(object.metadata.name ?? "")) this.#forgetAll();
      for (const volume of [object, old]) {
        const key = claimOf(volume);
        if (key !== undefined) this.#check(key);
      }
    });
    informers.of(kinds.StorageClass).onChange(() => this.#forgetAll());
    informers.of(kinds.CSINode).onChange(({ object }) => this.#forget(object.metadata.name ?? ""));
    informers.of(kinds.VolumeAttachment).onChange(({ type, object: { spec } }) => {
      if (type !== "updated") this.#count(spec.source.persistentVolumeName ?? "", type === "added" ? 1 : -1);
      this.#forget(spec.nodeName);
    });
  }

  #count(volume: string, by: 1 | -1): void {
    const count = (this.#attached.get(volume) ?? 0) + by;
    if (count > 0) this.#attached.set(volume, count);
    else this.#attached.delete(volume);
  }

  /** False: possibly not. */
  has(node: NodeInfo, driver: string, count: number): boolean {
    const { index } = node;
    if (this.#view.nodes[index] !== node) return false;
    const { room, seen } = this.#of(driver);
    if (seen[index] !== node.generation) {
      seen[index] = node.generation;
      room[index] = this.#roomOn(node, driver);
    }
    return (room[index] ?? 0) >= count;
  }

  /** Visits the nodes that possibly have no room. */
  eachWithout(
    driver: string,
    count: number,
    { indexes, count: open }: OpenNodes,
    visit: (node: NodeInfo) => void,
  ): void {
    const { nodes, generations } = this.#view;
    const { room, seen } = this.#of(driver);
    for (let at = 0; at < open; at++) {
      const index = indexes[at] ?? 0;
      if (seen[index] === generations[index] && (room[index] ?? 0) >= count) continue;
      const node = nodes[index];
      if (node !== undefined && !this.has(node, driver, count)) visit(node);
    }
  }

  #roomOn(node: NodeInfo, driver: string): number {
    const limit = limitOf(node.name, driver, this.#objects);
    if (limit === undefined) return UNLIMITED;
    const there = new Set(attachedTo(node.name, driver, this.#objects));
    for (const key of node.claims.keys()) {
      const found = volumeOf(key, this.#objects);
      this.#counted.set(key, found === undefined ? "" : `${found.driver} ${found.volume}`);
      if (found?.driver === driver) there.add(found.volume);
    }
    return limit - there.size;
  }

  #of(driver: string): Kept {
    const { length } = this.#view.generations;
    let kept = this.#kept.get(driver);
    if (kept === undefined || kept.seen.length < length) {
      kept = { room: new Int32Array(length), seen: new Float64Array(length).fill(-1) };
      this.#kept.set(driver, kept);
    }
    return kept;
  }

  #check(key: string): void {
    const counted = this.#counted.get(key);
    if (counted === undefined) return;
    const found = volumeOf(key, this.#objects);
    if (counted !== (found === undefined ? "" : `${found.driver} ${found.volume}`)) this.#forgetAll();
  }

  #forget(node: string): void {
    const index = this.#view.nodeNamed(node)?.index;
    if (index !== undefined) for (const { seen } of this.#kept.values()) seen[index] = -1;
  }

  #forgetAll(): void {
    this.#counted.clear();
    for (const { seen } of this.#kept.values()) seen.fill(-1);
  }
}

function claimOf(volume: core.PersistentVolume | undefined): string | undefined {
  const claim = volume?.spec?.claimRef;
  return claim === undefined ? undefined : `${claim.namespace ?? ""}/${claim.name ?? ""}`;
}
