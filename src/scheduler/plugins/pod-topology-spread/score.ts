/**
 * ScheduleAnyway constraints: the fewer selected pods in a node's domain, the higher its score.
 *
 * 1. A topology with many domains weighs more, because its counts by domain are smaller.
 * 2. Nodes without one of the topology keys score zero. With the built-in default constraints a missing key is ignored.
 */
import {
  type ClusterScore,
  type ClusterView,
  type FittingNodes,
  MAX_SCORE,
  type PodInfo,
  ready,
  type Scores,
  SKIP,
  type SpreadConstraint,
} from "../../framework/index.ts";
import { isEmpty } from "./filter.ts";
import type { Included, Inclusion } from "./inclusion.ts";

const HOSTNAME = "kubernetes.io/hostname";

export interface SpreadScores {
  readonly parts: readonly Part[];
  /** By node index: 1 if a required key is missing. */
  readonly ignored: Uint8Array;
}

interface Part {
  readonly of: Int32Array;
  /** By node or by domain. */
  readonly counts: Int32Array | Float64Array;
  readonly byNode: boolean;
  readonly weight: number;
  readonly base: number;
}

export interface SpreadScoreOptions {
  readonly constraintsOf: (pod: PodInfo) => readonly SpreadConstraint[];
  /** Whether nodes need all topology keys. */
  readonly needsAllKeys: (pod: PodInfo) => boolean;
  readonly inclusion: Inclusion;
}

export function spreadScore({
  constraintsOf,
  needsAllKeys,
  inclusion,
}: SpreadScoreOptions): ClusterScore<SpreadScores> {
  return {
    reads: "cluster",
    prepare(pod, view, nodes) {
      const constraints = constraintsOf(pod).filter(({ hard }) => !hard);
      if (constraints.length === 0) return SKIP;
      const keys = constraints.map(({ topologyKey }) => view.domains(topologyKey).of);
      const needsAll = needsAllKeys(pod);
      const ignored = new Uint8Array(view.generations.length);
      let scored = nodes.count;
      if (needsAll) {
        for (let at = 0; at < nodes.count; at++) {
          const index = nodes.indexes[at] ?? 0;
          if (hasAll(keys, index)) continue;
          ignored[index] = 1;
          scored -= 1;
        }
      }
      const includedBy = inclusion.of(pod.ask, view);
      const required = needsAll ? keys : [];
      const parts = constraints.map((constraint) =>
        partOf(constraint, { view, nodes, ignored, scored, required, included: includedBy(constraint) }),
      );
      return ready({ parts, ignored });
    },
    of: (state, node) => costOf(state, node.index),
    sweep(state, { indexes, count }, scores) {
      for (let at = 0; at < count; at++) {
        const index = indexes[at] ?? 0;
        scores[index] = costOf(state, index);
      }
    },
    normalize: ({ ignored }, scores, nodes) => invert(scores, nodes, ignored),
  };
}

interface Counting {
  readonly view: ClusterView;
  readonly nodes: FittingNodes;
  readonly ignored: Uint8Array;
  readonly scored: number;
  readonly required: readonly Int32Array[];
  readonly included: Included | undefined;
}

function partOf(constraint: SpreadConstraint, counting: Counting): Part {
  const { view, nodes, ignored, scored, required, included } = counting;
  const { topologyKey, select, maxSkew } = constraint;
  const { of, size } = view.domains(topologyKey);
  const selected = isEmpty(select) ? new Int32Array(0) : view.counts(select, { terminating: false });
  const base = maxSkew - 1;
  if (topologyKey === HOSTNAME) return { of, counts: selected, byNode: true, weight: weightOf(scored), base };
  const counts = new Float64Array(size);
  for (let node = 0; node < view.nodes.length; node++) {
    const domain = of[node] ?? -1;
    const count = selected[node] ?? 0;
    if (domain === -1 || count === 0 || included?.(node) === false || !hasAll(required, node)) continue;
    counts[domain] = (counts[domain] ?? 0) + count;
  }
  return { of, counts, byNode: false, weight: weightOf(domainsAmong(of, size, nodes, ignored)), base };
}

/** Nodes without the label are a domain of their own. */
function domainsAmong(of: Int32Array, size: number, { indexes, count }: FittingNodes, ignored: Uint8Array): number {
  const seen = new Uint8Array(size + 1);
  let found = 0;
  for (let at = 0; at < count; at++) {
    const index = indexes[at] ?? 0;
    if (ignored[index] === 1) continue;
    const domain = (of[index] ?? -1) + 1;
    if (seen[domain] === 1) continue;
    seen[domain] = 1;
    found += 1;
  }
  return found;
}

function hasAll(keys: readonly Int32Array[], node: number): boolean {
  for (const of of keys) if ((of[node] ?? -1) === -1) return false;
  return true;
}

function weightOf(domains: number): number {
  return Math.log(domains + 2);
}

function costOf({ parts, ignored }: SpreadScores, node: number): number {
  if (ignored[node] === 1) return 0;
  let cost = 0;
  for (const { of, counts, byNode, weight, base } of parts) {
    const domain = of[node] ?? -1;
    if (domain !== -1) cost += (counts[byNode ? node : domain] ?? 0) * weight + base;
  }
  return Math.round(cost);
}

/** The lowest cost becomes the highest score. */
function invert(scores: Scores, { indexes, count }: FittingNodes, ignored: Uint8Array): void {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = 0;
  for (let at = 0; at < count; at++) {
    const index = indexes[at] ?? 0;
    if (ignored[index] === 1) continue;
    const cost = scores[index] ?? 0;
    if (cost < lowest) lowest = cost;
    if (cost > highest) highest = cost;
  }
  for (let at = 0; at < count; at++) {
    const index = indexes[at] ?? 0;
    if (ignored[index] === 1) scores[index] = 0;
    else if (highest === 0) scores[index] = MAX_SCORE;
    else scores[index] = Math.trunc((MAX_SCORE * (highest + lowest - (scores[index] ?? 0))) / highest);
  }
}
