/**
 * Weighted sums of all scores, for the nodes that fit.
 *
 * 1. The memo holds the sum of scores without `normalize`. A score that is zero everywhere is the same everywhere after
 *    `normalize`: it is added to all nodes at once.
 *
 * Written for speed: see README.md. Its plain twin is testing/plain.
 */
import type { Random } from "#base";
import type { ClusterView, FittingNodes, NodeScore, Scores, Stages } from "../framework/index.ts";
import type { Filtered } from "./filtered.ts";
import type { Ranking } from "./ranking.ts";

/** The normalized, unweighted scores of one plugin. */
export interface ScoreColumn {
  readonly plugin: string;
  readonly weight: number;
  /** By node index; undefined: `constant` for all. */
  readonly scores: Scores | undefined;
  readonly constant: number;
  /** Part of the memo's sums. */
  readonly isSummed: boolean;
}

export interface Scored {
  readonly nodes: FittingNodes;
  /** By node index, without `offset`. Read-only. */
  readonly totals: Scores;
  readonly offset: number;
  /** The same nodes ordered by their totals, if available. */
  readonly ranking?: Ranking | undefined;
  readonly columns: readonly ScoreColumn[];
}

export class Scorer {
  readonly #stages: Stages;
  readonly #view: ClusterView;
  /** One array for each score, and one for the sums. */
  #scratch: Float64Array[] = [];
  /** By score: the normalized value of zero. */
  readonly #zeros: number[] = [];

  constructor(stages: Stages, view: ClusterView) {
    this.#stages = stages;
    this.#view = view;
  }

  score(filtered: Filtered, nodes: FittingNodes): Scored {
    this.#resize(this.#view.generations.length);
    const columns: ScoreColumn[] = [];
    this.#addNodeColumns(columns, filtered, nodes);
    this.#addClusterColumns(columns, filtered, nodes);
    let offset = 0;
    const added: ScoreColumn[] = [];
    for (const column of columns) {
      if (column.scores === undefined) offset += column.weight * column.constant;
      else if (!column.isSummed) added.push(column);
    }
    const { memo, fromMemo } = filtered;
    if (added.length === 0 && fromMemo) {
      const ranking = nodes.count === memo.fitting.length ? memo.ranking : undefined;
      return { nodes, totals: memo.sums, offset, columns, ranking };
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

  /** On the path of every decision: no generators, which would cost as much as the loop itself. */
  #addNodeColumns(columns: ScoreColumn[], { memo, fromMemo }: Filtered, nodes: FittingNodes): void {
    const { indexes, count } = nodes;
    const { nodeScores } = this.#stages;
    for (let at = 0; at < nodeScores.length; at++) {
      const use = nodeScores[at];
      if (use === undefined || !memo.hasScore(at)) continue;
      const { stage, weight } = use;
      const plugin = use.plugin.name;
      const known = fromMemo ? memo.raw(at) : undefined;
      if (known !== undefined && stage.normalize === undefined) {
        columns.push({ plugin, weight, constant: 0, scores: known, isSummed: true });
        continue;
      }
      if (known !== undefined && memo.isZero(at)) {
        this.#zeros[at] ??= normalizedZero(stage);
        columns.push({ plugin, weight, constant: this.#zeros[at] ?? 0, scores: undefined, isSummed: false });
        continue;
      }
      const scores = this.#scratch[at + 1] ?? new Float64Array(0);
      for (let each = 0; each < count; each++) {
        const index = indexes[each] ?? 0;
        const node = known === undefined ? this.#view.nodes[index] : undefined;
        scores[index] = node === undefined ? (known?.[index] ?? 0) : memo.scoreOf(at, node);
      }
      stage.normalize?.(scores, nodes);
      columns.push({ plugin, weight, constant: 0, scores, isSummed: false });
    }
  }

  #addClusterColumns(columns: ScoreColumn[], { pod }: Filtered, nodes: FittingNodes): void {
    const { indexes, count } = nodes;
    const { nodeScores, clusterScores } = this.#stages;
    const first = nodeScores.length + 1;
    for (let at = 0; at < clusterScores.length; at++) {
      const use = clusterScores[at];
      if (use === undefined) continue;
      const { plugin, stage, weight } = use;
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
      columns.push({ plugin: plugin.name, weight, scores, constant: 0, isSummed: false });
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

/** Weighted scores by plugin. */
export function partsOf({ columns }: Scored, index: number): Readonly<Record<string, number>> {
  return Object.fromEntries(
    columns.map(({ plugin, weight, scores, constant }) => [plugin, weight * (scores?.[index] ?? constant)]),
  );
}

/** The index of the best node, at random among equals; -1 if there is none. */
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
