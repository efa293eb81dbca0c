/**
 * The policies of the topology manager: from the hints of all providers to one affinity, and whether it will do. Pure.
 *
 * 1. A resource without hints has no preference; one with an empty list cannot be satisfied anywhere.
 * 2. Of all ways to combine one hint for each resource the best one is taken: preferred before not preferred, then the
 *    narrowest; what is not preferred is compared with the narrowest size that all resources can have.
 */
import type { TopologyHint } from "./hints.ts";
import { isNarrower } from "./numa-masks.ts";

export type TopologyPolicy = "none" | "best-effort" | "restricted" | "single-numa-node";

export type Hints = ReadonlyMap<string, readonly TopologyHint[]>;

export interface Affinity {
  readonly hint: TopologyHint;
  readonly admitted: boolean;
}

export interface Numa {
  readonly nodes: readonly number[];
  /** The mean distance among a set of nodes: `prefer-closest-numa-nodes`. Undefined: lower numbers first. */
  readonly distance?: ((nodes: ReadonlySet<number>) => number) | undefined;
}

const ANY: TopologyHint = { affinity: undefined, preferred: true };
const NOWHERE: TopologyHint = { affinity: undefined, preferred: false };

export function affinityOf(policy: TopologyPolicy, providers: readonly Hints[], numa: Numa): Affinity {
  if (policy === "none") return { hint: NOWHERE, admitted: true };
  const all = filtered(providers);
  const hints = policy === "single-numa-node" ? all.map(singleNodeOnly) : all;
  const best = merged(hints, numa, policy === "single-numa-node");
  return { hint: best, admitted: policy === "best-effort" || best.preferred };
}

/** One list for each resource. */
function filtered(providers: readonly Hints[]): readonly (readonly TopologyHint[])[] {
  return providers.flatMap((hints) =>
    hints.size === 0 ? [[ANY]] : [...hints.values()].map((list) => (list.length === 0 ? [NOWHERE] : list)),
  );
}

function singleNodeOnly(hints: readonly TopologyHint[]): readonly TopologyHint[] {
  return hints.filter(({ affinity, preferred }) => preferred && (affinity === undefined || affinity.size === 1));
}

function merged(hints: readonly (readonly TopologyHint[])[], numa: Numa, isSingle: boolean): TopologyHint {
  const everywhere: ReadonlySet<number> = new Set(numa.nodes);
  const size = widestOfNarrowest(hints);
  let best: TopologyHint | undefined;
  for (const chosen of permutations(hints)) {
    const candidate = combined(chosen, everywhere);
    if (best === undefined || isBetter(candidate, best, size, numa))
      best = candidate.affinity?.size === 0 ? best : candidate;
  }
  const found = best ?? { affinity: everywhere, preferred: false };
  // All nodes are no preference at all.
  const isAll = found.affinity?.size === everywhere.size;
  return isSingle && isAll ? { affinity: undefined, preferred: found.preferred } : found;
}

function combined(chosen: readonly TopologyHint[], everywhere: ReadonlySet<number>): TopologyHint {
  const affinity = chosen.reduce((all, hint) => all.intersection(hint.affinity ?? everywhere), everywhere);
  return { affinity, preferred: chosen.every(({ preferred }) => preferred) };
}

function* permutations(lists: readonly (readonly TopologyHint[])[]): Generator<readonly TopologyHint[]> {
  const [first, ...rest] = lists;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const hint of first) for (const others of permutations(rest)) yield [hint, ...others];
}

function widestOfNarrowest(hints: readonly (readonly TopologyHint[])[]): number {
  return Math.max(
    0,
    ...hints.map((list) => {
      const sizes = list.flatMap(({ affinity }) => (affinity === undefined ? [] : [affinity.size]));
      return sizes.length === 0 ? 0 : Math.min(...sizes);
    }),
  );
}

function isBetter(candidate: TopologyHint, best: TopologyHint, size: number, numa: Numa): boolean {
  const none: ReadonlySet<number> = new Set();
  const [next, now] = [candidate.affinity ?? none, best.affinity ?? none];
  if (next.size === 0) return false;
  if (candidate.preferred !== best.preferred) return candidate.preferred;
  const narrower = isCloser(next, now, numa);
  if (candidate.preferred) return narrower;
  if (now.size > size) return narrower;
  if (now.size === size) return next.size === size && narrower;
  if (next.size > size) return false;
  if (next.size === size) return true;
  return next.size > now.size || (next.size === now.size && narrower);
}

function isCloser(a: ReadonlySet<number>, b: ReadonlySet<number>, { distance }: Numa): boolean {
  if (distance === undefined || a.size !== b.size) return isNarrower(a, b);
  const [near, far] = [distance(a), distance(b)];
  return near === far ? isNarrower(a, b) : near < far;
}

/** The mean of all distances between two of the nodes, in both directions. */
export function meanDistance(
  nodes: readonly { readonly id: number; readonly distances: ReadonlyMap<number, number> }[],
): (chosen: ReadonlySet<number>) => number {
  return (chosen) => {
    const rows = nodes.filter(({ id }) => chosen.has(id));
    const all = rows.flatMap(({ distances }) => [...chosen].map((other) => distances.get(other) ?? 0));
    return all.reduce((sum, each) => sum + each, 0) / Math.max(1, all.length);
  };
}
