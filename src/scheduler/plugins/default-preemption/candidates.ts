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

interface Remembered {
  readonly generation: number;
  readonly epoch: number;
  readonly result: Candidate | Rejection;
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
  readonly #remembered = new WeakMap<NodeAsk, Map<number, Remembered>>();

  constructor(options: CandidatesOptions) {
    this.#options = options;
  }

  find(failed: NoFit): Found {
    const { random } = this.#options;
    const { resolvable, view } = failed;
    const total = resolvable.length;
    if (total === 0) return { candidates: [], rejections: [] };
    const enough = this.#enough(total);
    const candidates: Candidate[] = [];
    const rejections: Rejection[] = [];
    let harmless = 0;
    const offset = random.integer(total);
    for (let at = 0; at < total; at++) {
      const node = view.nodes[resolvable[(offset + at) % total] ?? 0];
      if (node === undefined) continue;
      const result = this.#on(failed, node);
      if (!isCandidate(result)) {
        rejections.push(result);
        continue;
      }
      candidates.push(result);
      if (result.violations === 0) harmless += 1;
      if (harmless > 0 && candidates.length >= enough) break;
    }
    return { candidates, rejections };
  }

  #on(failed: NoFit, node: Candidate["node"]): Candidate | Rejection {
    const { budgets, budgetsEpoch, nowMs } = this.#options;
    const { pod, view } = failed;
    const isOwn = view.nominatedTo(node.name).some(({ uid }) => uid === pod.uid);
    if (!failed.readsNodesOnly || isOwn) return victimsOn(failed, node, budgets(), nowMs());
    const epoch = budgetsEpoch();
    const nodes = this.#remembered.get(pod.ask) ?? new Map<number, Remembered>();
    this.#remembered.set(pod.ask, nodes);
    const known = nodes.get(node.index);
    if (known?.generation === node.generation && known.epoch === epoch) return known.result;
    const result = victimsOn(failed, node, budgets(), nowMs());
    nodes.set(node.index, { generation: node.generation, epoch, result });
    return result;
  }

  #enough(nodes: number): number {
    const { minCandidateNodesPercentage, minCandidateNodesAbsolute } = this.#options.args;
    const share = Math.trunc((nodes * minCandidateNodesPercentage) / 100);
    return Math.min(nodes, Math.max(share, minCandidateNodesAbsolute));
  }
}
