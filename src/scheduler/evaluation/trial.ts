/** Tries changes of one node: pods are added and removed on a fork, and the filters run again. */

import {
  type ClusterView,
  type ForkedNode,
  type NodeInfo,
  PASS,
  type PodInfo,
  type Stages,
  type Trial,
  type Verdict,
} from "../framework/index.ts";
import { atLeastAsImportant } from "./ask-memo.ts";
import type { Filtered } from "./filtered.ts";

export class NodeTrial implements Trial {
  readonly #stages: Stages;
  readonly #view: ClusterView;
  readonly #filtered: Filtered;
  #fork: ForkedNode | undefined;
  readonly #original: NodeInfo;
  /** States of the filters that read the cluster; undefined if they do not apply. */
  #states: readonly unknown[];

  constructor(stages: Stages, view: ClusterView, filtered: Filtered, node: NodeInfo) {
    this.#stages = stages;
    this.#view = view;
    this.#filtered = filtered;
    this.#original = node;
    this.#states = filtered.prepared.map((prepared) => (prepared.kind === "ready" ? prepared.state : undefined));
  }

  get node(): NodeInfo {
    return this.#fork ?? this.#original;
  }

  add(pod: PodInfo): void {
    this.#forked().add(pod);
    this.#states = this.#with(this.#states, pod, "withPod");
  }

  remove(pod: PodInfo): void {
    this.#forked().remove(pod);
    this.#states = this.#with(this.#states, pod, "withoutPod");
  }

  verdict(): Verdict {
    const { pod, memo } = this.#filtered;
    const others = atLeastAsImportant(this.#view.nominatedTo(this.node.name), pod.priority).filter(
      ({ uid }) => uid !== pod.uid,
    );
    const verdict = memo.verdictOn(this.node, others);
    return verdict === PASS ? this.clusterVerdict(others) : verdict;
  }

  /** The verdict of the filters that read the cluster: with the other pods on the node, then without. */
  clusterVerdict(others: readonly PodInfo[]): Verdict {
    if (others.length > 0) {
      let states = this.#states;
      const crowded = this.node.fork();
      for (const other of others) {
        if (crowded.pods.has(other.uid)) continue;
        crowded.add(other);
        states = this.#with(states, other, "withPod");
      }
      const verdict = this.#check(states, crowded);
      if (verdict !== PASS) return verdict;
    }
    return this.#check(this.#states, this.node);
  }

  #check(states: readonly unknown[], node: NodeInfo): Verdict {
    for (const [at, { stage, checks }] of this.#stages.clusterFilters.entries()) {
      if (states[at] === undefined || !checks) continue;
      const verdict = stage.check(states[at], node);
      if (verdict !== PASS) return verdict;
    }
    return PASS;
  }

  #with(states: readonly unknown[], pod: PodInfo, how: "withPod" | "withoutPod"): readonly unknown[] {
    return this.#stages.clusterFilters.map(({ stage }, at) => {
      const state = states[at];
      return state === undefined ? undefined : (stage[how]?.(state, pod, this.node) ?? state);
    });
  }

  #forked(): ForkedNode {
    this.#fork ??= this.#original.fork();
    return this.#fork;
  }
}
