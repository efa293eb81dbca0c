/**
 * The number of selected pods by node, updated with each pod.
 *
 * 1. A count exists from its first use until `MAX_COUNTS` others have been used since.
 * 2. Whether a selector matches a label class is computed once.
 */
import { LruMap } from "#base";
import type { LabelClass, PodInfo, PodSelector } from "../framework/index.ts";

const MAX_COUNTS = 256;

export interface CountedPods {
  /** A pod counts if all of them select it. */
  readonly selects: readonly PodSelector[];
  /** Whether terminating pods count. */
  readonly terminating: boolean;
}

interface Count extends CountedPods {
  counts: Int32Array<ArrayBuffer>;
  matches: WeakMap<LabelClass, boolean>;
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
      count = { ...asked, counts: new Int32Array(this.#capacity), matches: new WeakMap() };
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

  /** After a change of namespace labels: counts that depend on them are dropped. */
  namespacesChanged(): void {
    for (const [key, { selects }] of this.#counts) {
      if (selects.some(({ namespaceSelector }) => !namespaceSelector.nothing)) this.#counts.delete(key);
    }
  }

  #count(count: Count, node: number, pod: PodInfo, by: 1 | -1): void {
    if (pod.terminating && !count.terminating) return;
    let isSelected = count.matches.get(pod.labels);
    if (isSelected === undefined) {
      isSelected = count.selects.every((select) => this.#matches(select, pod.labels));
      count.matches.set(pod.labels, isSelected);
    }
    if (isSelected) count.counts[node] = (count.counts[node] ?? 0) + by;
  }
}
