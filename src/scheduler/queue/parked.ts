/** Parked pods, grouped by the plugins that rejected them: an event that concerns no group costs next to nothing. */
import type { QueuedPod } from "./queued-pod.ts";

interface Group {
  readonly rejectors: ReadonlySet<string>;
  readonly schedulerName: string;
  readonly pods: Map<string, QueuedPod>;
}

export class Parked {
  readonly #groups = new Map<string, Group>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(queued: QueuedPod, schedulerName: string, rejectors = queued.rejectors): void {
    const key = groupKey(rejectors, schedulerName);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { rejectors, schedulerName, pods: new Map() };
      this.#groups.set(key, group);
    }
    group.pods.set(queued.pod.uid, queued);
    this.#size += 1;
  }

  delete(queued: QueuedPod, schedulerName: string, rejectors = queued.rejectors): void {
    const key = groupKey(rejectors, schedulerName);
    const group = this.#groups.get(key);
    if (group?.pods.delete(queued.pod.uid) !== true) return;
    this.#size -= 1;
    if (group.pods.size === 0) this.#groups.delete(key);
  }

  /** The pods of the groups that `concerns` accepts. */
  *concerned(concerns: (rejectors: ReadonlySet<string>, schedulerName: string) => boolean): Iterable<QueuedPod> {
    for (const { rejectors, schedulerName, pods } of [...this.#groups.values()]) {
      if (concerns(rejectors, schedulerName)) yield* [...pods.values()];
    }
  }
}

function groupKey(rejectors: ReadonlySet<string>, schedulerName: string): string {
  return `${schedulerName}\0${[...rejectors].sort().join("\0")}`;
}
