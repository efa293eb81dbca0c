/** Weighted sums of all scores, for the nodes that fit. */
import type { Random } from "#base";
import type { ClusterView } from "./cluster-view.ts";
import type { Filtered } from "./filtered.ts";
import type { FittingNodes, Scores } from "./plugin.ts";
import type { Stages } from "./stages.ts";

export interface ScoreColumn {
  readonly plugin: string;
  readonly weight: number;
  /** By node index, normalized, not weighted. */
  readonly scores: Scores;
}

export interface Scored {
  readonly nodes: FittingNodes;
  /** By node index. */
  readonly totals: Scores;
  readonly columns: readonly ScoreColumn[];
}

export class Scorer {
  readonly #stages: Stages;
  readonly #view: ClusterView;
  /** One for each score, and one for the sums. */
  #scratch: Float64Array[] = [];

  constructor(stages: Stages, view: ClusterView) {
    this.#stages = stages;
    this.#view = view;
  }

  score(filtered: Filtered, nodes: FittingNodes): Scored {
    this.#resize(this.#view.generations.length);
    const columns = [...this.#nodeColumns(filtered, nodes), ...this.#clusterColumns(filtered, nodes)];
    const [totals = new Float64Array(0)] = this.#scratch;
    const { indexes, count } = nodes;
    for (let at = 0; at < count; at++) totals[indexes[at] ?? 0] = 0;
    for (const { weight, scores } of columns) {
      for (let at = 0; at < count; at++) {
        const index = indexes[at] ?? 0;
        totals[index] = (totals[index] ?? 0) + weight * (scores[index] ?? 0);
      }
    }
    return { nodes, totals, columns };
  }

  *#nodeColumns({ memo }: Filtered, nodes: FittingNodes): Iterable<ScoreColumn> {
    const { indexes, count } = nodes;
    for (const [at, { plugin, stage, weight }] of this.#stages.nodeScores.entries()) {
      if (!memo.hasScore(at)) continue;
      const known = memo.raw(at);
      const isKept = known !== undefined && known.length > 0;
      if (isKept && stage.normalize === undefined) {
        yield { plugin: plugin.name, weight, scores: known };
        continue;
      }
      const scores = this.#scratch[at + 1] ?? new Float64Array(0);
      for (let each = 0; each < count; each++) {
        const index = indexes[each] ?? 0;
        const node = isKept ? undefined : this.#view.nodes[index];
        scores[index] = node === undefined ? (known?.[index] ?? 0) : memo.scoreOf(at, node);
      }
      stage.normalize?.(scores, nodes);
      yield { plugin: plugin.name, weight, scores };
    }
  }

  *#clusterColumns({ pod }: Filtered, nodes: FittingNodes): Iterable<ScoreColumn> {
    const { indexes, count } = nodes;
    const first = this.#stages.nodeScores.length + 1;
    for (const [at, { plugin, stage, weight }] of this.#stages.clusterScores.entries()) {
      const prepared = stage.prepare(pod, this.#view, nodes);
      if (prepared.kind !== "ready") continue;
      const scores = this.#scratch[first + at] ?? new Float64Array(0);
      if (stage.sweep !== undefined) stage.sweep(prepared.state, nodes, scores);
      else {
        for (let each = 0; each < count; each++) {
          const index = indexes[each] ?? 0;
          const node = this.#view.nodes[index];
          scores[index] = node === undefined ? 0 : stage.of(prepared.state, node);
        }
      }
      stage.normalize?.(prepared.state, scores, nodes);
      yield { plugin: plugin.name, weight, scores };
    }
  }

  #resize(length: number): void {
    if (this.#scratch[0]?.length === length) return;
    const { nodeScores, clusterScores } = this.#stages;
    const needed = 1 + nodeScores.length + clusterScores.length;
    this.#scratch = Array.from({ length: needed }, () => new Float64Array(length));
  }
}

/** The index of a best node: one of the best, by chance, if there are several. -1 if there is none. */
export function best({ nodes, totals }: Scored, random: Random): number {
  const { indexes, count } = nodes;
  let highest = Number.NEGATIVE_INFINITY;
  let ties = 0;
  for (let at = 0; at < count; at++) {
    const total = totals[indexes[at] ?? 0] ?? 0;
    if (total > highest) {
      highest = total;
      ties = 1;
    } else if (total === highest) ties += 1;
  }
  if (ties === 0) return -1;
  let skip = ties === 1 ? 0 : random.integer(ties);
  for (let at = 0; at < count; at++) {
    const index = indexes[at] ?? 0;
    if (totals[index] === highest && skip-- === 0) return index;
  }
  return -1;
}
