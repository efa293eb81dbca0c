/**
 * Weighted sums of all scores, for the nodes that fit.
 *
 * 1. Scores that need no normalizing are summed up in the memo already. One that is zero everywhere is the same everywhere once it is normalized: it is
 *    added to all at once.
 */
import type { Random } from "#base";
import type { ClusterView } from "./cluster-view.ts";
import type { Filtered } from "./filtered.ts";
import type { FittingNodes, NodeScore, Scores } from "./plugin.ts";
import type { Ranking } from "./ranking.ts";
import type { Stages } from "./stages.ts";

/** What one plugin gives: normalized, not weighted. */
export interface ScoreColumn {
  readonly plugin: string;
  readonly weight: number;
  /** By node index; undefined: the same for all. */
  readonly scores: Scores | undefined;
  readonly constant: number;
  /** It is part of the totals already. */
  readonly isSummed: boolean;
}

export interface Scored {
  readonly nodes: FittingNodes;
  /** By node index, without `offset`, which all have. Not to be written to. */
  readonly totals: Scores;
  readonly offset: number;
  /** The same nodes by their totals, where somebody keeps them in order. */
  readonly ranking?: Ranking;
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
    const offset = columns.reduce((sum, { scores, weight, constant }) => sum + (scores ? 0 : weight * constant), 0);
    const added = columns.filter(({ scores, isSummed }) => scores !== undefined && !isSummed);
    const { memo, fromMemo } = filtered;
    if (added.length === 0 && fromMemo) {
      const isAll = nodes.count === memo.fitting.length;
      return { nodes, totals: memo.sums, offset, columns, ...(isAll && { ranking: memo.ranking }) };
    }
    const [totals = new Float64Array(0)] = this.#scratch;
    const { indexes, count } = nodes;
    for (let at = 0; at < count; at++) {
      const index = indexes[at] ?? 0;
      totals[index] = fromMemo ? (memo.sums[index] ?? 0) : 0;
    }
    for (const { weight, scores } of added) {
      for (let at = 0; at < count; at++) {
        const index = indexes[at] ?? 0;
        totals[index] = (totals[index] ?? 0) + weight * (scores?.[index] ?? 0);
      }
    }
    return { nodes, totals, offset, columns };
  }

  *#nodeColumns({ memo, fromMemo }: Filtered, nodes: FittingNodes): Iterable<ScoreColumn> {
    const { indexes, count } = nodes;
    for (const [at, { plugin, stage, weight }] of this.#stages.nodeScores.entries()) {
      if (!memo.hasScore(at)) continue;
      const named = { plugin: plugin.name, weight, constant: 0 };
      const known = fromMemo ? memo.raw(at) : undefined;
      if (known !== undefined && stage.normalize === undefined) {
        yield { ...named, scores: known, isSummed: true };
        continue;
      }
      if (known !== undefined && memo.isZero(at)) {
        yield { ...named, scores: undefined, constant: normalizedZero(stage), isSummed: false };
        continue;
      }
      const scores = this.#scratch[at + 1] ?? new Float64Array(0);
      for (let each = 0; each < count; each++) {
        const index = indexes[each] ?? 0;
        const node = known === undefined ? this.#view.nodes[index] : undefined;
        scores[index] = node === undefined ? (known?.[index] ?? 0) : memo.scoreOf(at, node);
      }
      stage.normalize?.(scores, nodes);
      yield { ...named, scores, isSummed: false };
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
      yield { plugin: plugin.name, weight, scores, constant: 0, isSummed: false };
    }
  }

  #resize(length: number): void {
    if (this.#scratch[0]?.length === length) return;
    const { nodeScores, clusterScores } = this.#stages;
    const needed = 1 + nodeScores.length + clusterScores.length;
    this.#scratch = Array.from({ length: needed }, () => new Float64Array(length));
  }
}

function normalizedZero({ normalize }: NodeScore<unknown>): number {
  const scores = new Float64Array(1);
  normalize?.(scores, { indexes: new Int32Array(1), count: 1 });
  return scores[0] ?? 0;
}

export function totalOf({ totals, offset }: Scored, index: number): number {
  return (totals[index] ?? 0) + offset;
}

/** By plugin, weighted. */
export function partsOf({ columns }: Scored, index: number): Readonly<Record<string, number>> {
  return Object.fromEntries(
    columns.map(({ plugin, weight, scores, constant }) => [plugin, weight * (scores?.[index] ?? constant)]),
  );
}

/** The index of a best node: one of the best, by chance, if there are several. -1 if there is none. */
export function best({ nodes, totals, ranking }: Scored, random: Random): number {
  if (ranking !== undefined) return ranking.best(random);
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
