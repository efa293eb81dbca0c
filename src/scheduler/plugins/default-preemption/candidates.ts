/**
 * Finds candidate nodes for a preemption.
 *
 * 1. The search begins at a random node and ends with enough candidates, one of them without PodDisruptionBudget
 *    violations.
 * 2. Victims are cached by ask and node, while neither the node nor the budgets change and no filter that applies reads
 *    the cluster.
 */
import type { policy } from "#api";
import type { Random } from "#base";
import type { DefaultPreemptionArgs, NodeAsk, NodeInfo, NoFit, PodInfo, Rejection } from "../../framework/index.ts";
import { type Candidate, type Victims, victimsOn } from "./victims.ts";

/** By node index. */
class VictimsCache {
  #generations = new Float64Array(0);
  #results: (Victims | undefined)[] = [];
  /** The epoch of the budgets. */
  #epoch = 0;

  /** Drops everything if the budgets or the size of the cluster have changed. */
  begin(epoch: number, length: number): void {
    if (this.#epoch === epoch && this.#generations.length === length) return;
    this.#epoch = epoch;
    this.#generations = new Float64Array(length);
    this.#results = [];
  }

  at(index: number, generation: number | undefined): Victims | undefined {
    return this.#generations[index] === generation ? this.#results[index] : undefined;
  }

  set({ index, generation }: NodeInfo, result: Victims): void {
    this.#generations[index] = generation;
    this.#results[index] = result;
  }
}

export interface Found {
  readonly candidates: readonly Candidate[];
  readonly rejections: readonly Rejection[];
  /** Messages about unexpected fits. */
  readonly faults: readonly string[];
}

export interface CandidatesOptions {
  readonly args: DefaultPreemptionArgs;
  readonly random: Random;
  readonly budgets: () => readonly policy.PodDisruptionBudget[];
  /** Changes with every change of a budget. */
  readonly budgetsEpoch: () => number;
  readonly nowMs: () => number;
  /** What a Pod counts as, as a victim. */
  readonly priorityOf: (pod: PodInfo) => number;
}

export class Candidates {
  readonly #options: CandidatesOptions;
  readonly #caches = new WeakMap<NodeAsk, VictimsCache>();

  constructor(options: CandidatesOptions) {
    this.#options = options;
  }

  find(failed: NoFit): Found {
    const { random } = this.#options;
    const { resolvable, view, pod } = failed;
    if (resolvable === 0) return { candidates: [], rejections: [], faults: [] };
    const { nodes, generations } = view;
    // The pod's own nomination does not count for itself: its node is not shared with other pods.
    const own = view.nodeNamed(view.nominationOf(pod.uid) ?? "")?.index;
    const known = failed.readsNodesOnly ? this.#cacheFor(failed) : undefined;
    const enough = this.#enough(resolvable);
    const candidates: Candidate[] = [];
    const rejections: Rejection[] = [];
    const faults: string[] = [];
    let harmless = 0;
    const total = nodes.length;
    const offset = random.integer(total);
    for (let at = 0; at < total; at++) {
      const place = offset + at;
      const index = place < total ? place : place - total;
      if (!failed.isResolvable(index)) continue;
      // Most nodes are cached: their NodeInfo is not even read.
      const shared = index === own ? undefined : known;
      const result = shared?.at(index, generations[index]) ?? this.#victims(failed, nodes[index], shared);
      if (result === undefined) continue;
      if (result.kind !== "candidate") {
        if (result.kind === "unexpected") faults.push(result.message);
        else rejections.push(result);
        continue;
      }
      candidates.push(result);
      if (result.harm.violations === 0) harmless += 1;
      if (harmless > 0 && candidates.length >= enough) break;
    }
    return { candidates, rejections, faults };
  }

  #victims(failed: NoFit, node: NodeInfo | undefined, known: VictimsCache | undefined): Victims | undefined {
    if (node === undefined) return undefined;
    const { budgets, nowMs, priorityOf } = this.#options;
    const result = victimsOn(failed, node, budgets(), nowMs(), priorityOf);
    known?.set(node, result);
    return result;
  }

  #cacheFor({ pod, view }: NoFit): VictimsCache {
    let known = this.#caches.get(pod.ask);
    if (known === undefined) {
      known = new VictimsCache();
      this.#caches.set(pod.ask, known);
    }
    known.begin(this.#options.budgetsEpoch(), view.generations.length);
    return known;
  }

  #enough(nodes: number): number {
    const { minCandidateNodesPercentage, minCandidateNodesAbsolute } = this.#options.args;
    const share = Math.trunc((nodes * minCandidateNodesPercentage) / 100);
    return Math.min(nodes, Math.max(share, minCandidateNodesAbsolute));
  }
}
