/**
 * Parked pods, grouped by the plugins that rejected them: an event that concerns no group costs next to nothing.
 *
 * 1. Within a group, pods are found by what they wait for: with 1,500 pods whose claims are still to be made, 30 % of
 *    the processor time went into asking all of them about each claim (2026-11-20). wake-keys.test.ts compares the keys
 *    with the hints.
 */
import { type QueuedPod, schedulerOf } from "./queued-pod.ts";

interface Group {
  readonly key: string;
  readonly rejectors: ReadonlySet<string>;
  readonly schedulerName: string;
  readonly pods: Set<QueuedPod>;
  readonly byKey: Map<string, Set<QueuedPod>>;
}

interface Place {
  readonly group: Group;
  /** As they were when the pod was parked: it may have changed since. */
  readonly keys: readonly string[];
}

/** The keys of the pods that an event concerns in a group: all of them, or none of the group. */
export type Concern = readonly string[] | "all" | "none";

export interface ParkedOptions {
  readonly rejectorsOf: (queued: QueuedPod) => ReadonlySet<string>;
  /** What the pod waits for. */
  readonly keysOf: (queued: QueuedPod, rejectors: ReadonlySet<string>) => readonly string[];
}

export class Parked {
  readonly #groups = new Map<string, Group>();
  readonly #places = new Map<QueuedPod, Place>();
  readonly #options: ParkedOptions;

  constructor(options: ParkedOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#places.size;
  }

  add(queued: QueuedPod): void {
    const rejectors = this.#options.rejectorsOf(queued);
    const group = this.#groupOf(rejectors, schedulerOf(queued));
    const keys = this.#options.keysOf(queued, rejectors);
    this.#places.set(queued, { group, keys });
    group.pods.add(queued);
    for (const key of keys) {
      const there = group.byKey.get(key);
      if (there === undefined) group.byKey.set(key, new Set([queued]));
      else there.add(queued);
    }
  }

  delete(queued: QueuedPod): void {
    const place = this.#places.get(queued);
    if (place === undefined) return;
    this.#places.delete(queued);
    const { group, keys } = place;
    group.pods.delete(queued);
    for (const key of keys) {
      const there = group.byKey.get(key);
      there?.delete(queued);
      if (there?.size === 0) group.byKey.delete(key);
    }
    if (group.pods.size === 0) this.#groups.delete(group.key);
  }

  *concerned(concern: (rejectors: ReadonlySet<string>, schedulerName: string) => Concern): Iterable<QueuedPod> {
    for (const { rejectors, schedulerName, pods, byKey } of [...this.#groups.values()]) {
      const keys = concern(rejectors, schedulerName);
      if (keys === "none") continue;
      yield* keys === "all" ? [...pods] : new Set(keys.flatMap((key) => [...(byKey.get(key) ?? [])]));
    }
  }

  #groupOf(rejectors: ReadonlySet<string>, schedulerName: string): Group {
    const key = groupKey(rejectors, schedulerName);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { key, rejectors, schedulerName, pods: new Set(), byKey: new Map() };
      this.#groups.set(key, group);
    }
    return group;
  }
}

function groupKey(rejectors: ReadonlySet<string>, schedulerName: string): string {
  if (rejectors.size === 1) for (const only of rejectors) return `${schedulerName}\0${only}`;
  return `${schedulerName}\0${[...rejectors].sort().join("\0")}`;
}
