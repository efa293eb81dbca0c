/** The decision on one pod as plain values, for tests. */
import type { ClusterView, PodInfo, Rejection } from "../framework/index.ts";
import type { Evaluator } from "./evaluator.ts";
import { rejectionOn } from "./filtered.ts";
import { partsOf, totalOf } from "./scorer.ts";

export interface Decision {
  /** Node names, in no particular order. */
  readonly fitting: readonly string[];
  readonly rejections: ReadonlyMap<string, Rejection>;
  /** By node that fits: the weighted sum, and each plugin's share of it. */
  readonly scores: ReadonlyMap<string, NodeScores>;
}

export interface NodeScores {
  readonly total: number;
  readonly parts: Readonly<Record<string, number>>;
}

export function decide(evaluator: Evaluator, view: ClusterView, pod: PodInfo, nominated?: string): Decision {
  const filtered = evaluator.filter(pod, { nominated });
  const scored = evaluator.score(filtered);
  const fitting: string[] = [];
  const scores = new Map<string, NodeScores>();
  for (const index of filtered.indexes.subarray(0, filtered.count)) {
    const name = view.nodes[index]?.name ?? "";
    fitting.push(name);
    scores.set(name, { total: totalOf(scored, index), parts: partsOf(scored, index) });
  }
  const rejections = new Map<string, Rejection>();
  for (const node of view.nodes) {
    const rejection = node && rejectionOn(filtered, node.index);
    if (node !== undefined && rejection !== undefined) rejections.set(node.name, rejection);
  }
  return { fitting, rejections, scores };
}
