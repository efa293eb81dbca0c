/**
 * Nodes on which room could be made.
 *
 * 1. The search begins anywhere and ends when there are enough candidates, one of them without violated budgets.
 * 2. Who would have to go from a node is remembered for the ask, as long as neither the node nor the budgets change and no filter looks beyond the node.
 */
import type { policy } from "#api";
import type { Random } from "#base";
import type { DefaultPreemptionArgs } from "../../configuration/arguments.ts";
import type { NodeAsk, NoFit, Rejection } from "../../framework/index.ts";
import { type Candidate, isCandidate, victimsOn } from "./victims.ts";

/** By node index. */
interface Remembered {
  generations: Float64Array;
  readonly results: (Candidate | Rejection | undefined)[];
  /** Of the budgets. */
  epoch: number;
}

export interface Found {
  readonly candidates: readonly Candidate[];
  readonly rejections: readonly Rejection[];
}

export interface CandidatesOptions {
  readonly args: DefaultPreemptionArgs;
  readonly random: Random;
  readonly budgets: () => readonly policy.PodDisruptionBudget[];
  /** Another number after every change of a budget. */
  readonly budgetsEpoch: () => number;
  readonly nowMs: () => number;
}

export class Candidates {
  readonly #options: CandidatesOptions;
  readonly #remembered = new WeakMap<NodeAsk, Remembered>();

  constructor(options: CandidatesOptions) {
    this.#options = options;
  }

  find(failed: NoFit): Found {
    const { random } = this.#options;
    const { resolvable, view, pod } = failed;
    const { nodes } = view;
    // Without the promise that was made to the pod itself, its node is not what others see.
    const own = view.nominationOf(pod.uid);
    const known = failed.readsNodesOnly ? this.#rememberedFor(failed) : undefined;
    const total = resolvable.length;
    if (total === 0) return { candidates: [], rejections: [] };
    const enough = this.#enough(total);
    const candidates: Candidate[] = [];
    const rejections: Rejection[] = [];
    let harmless = 0;
    const offset = random.integer(total);
    for (let at = 0; at < total; at++) {
      const place = offset + at;
      const node = nodes[resolvable[place < total ? place : place - total] ?? 0];
      if (node === undefined) continue;
      const result =
        known === undefined || node.name === own ? this.#victims(failed, node) : this.#on(failed, node, known);
      if (!isCandidate(result)) {
        rejections.push(result);
        continue;
      }
      candidates.push(result);
      if (result.harm.violations === 0) harmless += 1;
      if (harmless > 0 && candidates.length >= enough) break;
    }
    return { candidates, rejections };
  }

  #on(failed: NoFit, node: Candidate["node"], { generations, results }: Remembered): Candidate | Rejection {
    const { index, generation } = node;
    const known = results[index];
    if (known !== undefined && generations[index] === generation) return known;
    const result = this.#victims(failed, node);
    generations[index] = generation;
    results[index] = result;
    return result;
  }

  #victims(failed: NoFit, node: Candidate["node"]): Candidate | Rejection {
    const { budgets, nowMs } = this.#options;
    return victimsOn(failed, node, budgets(), nowMs());
  }

  #rememberedFor({ pod, view }: NoFit): Remembered {
    const epoch = this.#options.budgetsEpoch();
    let known = this.#remembered.get(pod.ask);
    if (known === undefined) {
      known = { generations: new Float64Array(0), results: [], epoch };
      this.#remembered.set(pod.ask, known);
    }
    const { length } = view.generations;
    if (known.epoch !== epoch || known.generations.length !== length) {
      known.epoch = epoch;
      known.generations = new Float64Array(length);
      known.results.fill(undefined);
    }
    return known;
  }

  #enough(nodes: number): number {
    const { minCandidateNodesPercentage, minCandidateNodesAbsolute } = this.#options.args;
    const share = Math.trunc((nodes * minCandidateNodesPercentage) / 100);
    return Math.min(nodes, Math.max(share, minCandidateNodesAbsolute));
  }
}
