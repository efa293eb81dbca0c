/**
 * How many pods on each node a selector means, kept up to date pod by pod.
 *
 * 1. A count exists from when it is first asked for until `MAX_COUNTS` others have been asked for since.
 * 2. Whether a selector means pods of a label class is worked out once.
 */
import { LruMap } from "#base";
import type { LabelClass, PodInfo, PodSelector } from "../framework/index.ts";

const MAX_COUNTS = 256;

export interface CountedPods {
  /** A pod has to be meant by all of them. */
  readonly selects: readonly PodSelector[];
  /** Whether pods that are on their way out count. */
  readonly terminating: boolean;
}

interface Count extends CountedPods {
  counts: Int32Array<ArrayBuffer>;
  meant: WeakMap<LabelClass, boolean>;
}

export class PodCounts {
  readonly #counts = new LruMap<string, Count>(MAX_COUNTS);
  readonly #matches: (select: PodSelector, labels: LabelClass) => boolean;
  #capacity: number;

  constructor(capacity: number, matches: (select: PodSelector, labels: LabelClass) => boolean) {
    this.#capacity = capacity;
    this.#matches = matches;
  }

  of(asked: CountedPods, all: () => Iterable<readonly [node: number, pods: Iterable<PodInfo>]>): Int32Array {
    const key = `${asked.terminating}\0${asked.selects.map(({ key }) => key).join("\0")}`;
    let count = this.#counts.get(key);
    if (count === undefined) {
      count = { ...asked, counts: new Int32Array(this.#capacity), meant: new WeakMap() };
      for (const [node, pods] of all()) for (const pod of pods) this.#count(count, node, pod, 1);
      this.#counts.set(key, count);
    }
    return count.counts;
  }

  change(node: number, pod: PodInfo, by: 1 | -1): void {
    for (const count of this.#counts.values()) this.#count(count, node, pod, by);
  }

  grow(capacity: number): void {
    this.#capacity = capacity;
    for (const count of this.#counts.values()) {
      const next = new Int32Array(capacity);
      next.set(count.counts);
      count.counts = next;
    }
  }

  /** Labels of namespaces have changed: what depends on them is counted anew when it is asked for. */
  namespacesChanged(): void {
    for (const [key, { selects }] of this.#counts) {
      if (selects.some(({ namespaceSelector }) => !namespaceSelector.nothing)) this.#counts.delete(key);
    }
  }

  #count(count: Count, node: number, pod: PodInfo, by: 1 | -1): void {
    if (pod.terminating && !count.terminating) return;
    let meant = count.meant.get(pod.labels);
    if (meant === undefined) {
      meant = count.selects.every((select) => this.#matches(select, pod.labels));
      count.meant.set(pod.labels, meant);
    }
    if (meant) count.counts[node] = (count.counts[node] ?? 0) + by;
  }
}
