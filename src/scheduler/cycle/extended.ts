/** Calls extenders in an attempt: each gets the nodes that the one before accepted. */
import { isAbort } from "#base";
import { type Filtered, type Scored, UNSEEN } from "../evaluation/index.ts";
import type { Extender, Rejection } from "../framework/index.ts";
import type { Parts } from "./parts.ts";

/** Extenders give 0 to 10. */
const SCORE_SCALE = 10;

/**
 * Removes the nodes that extenders reject, and nodes that were deleted meanwhile. Returns whether any was removed.
 * Throws if an extender fails that is not ignorable.
 *
 * A node that an extender leaves out without a reason is unresolvable.
 */
export async function askExtenders(parts: Parts, filtered: Filtered): Promise<boolean> {
  const { state, signal, extenderRejections: rejections } = parts;
  const before = filtered.count;
  const known = state.nodeNames;
  const rejected = new Map<string, Rejection>();
  for (const extender of parts.extenders) {
    if (filtered.count === 0) break;
    if (extender.filter === undefined || !extender.isInterested(filtered.pod)) continue;
    const names = namesOf(parts, filtered);
    try {
      const { fitting, failed, unresolvable } = await extender.filter(filtered.pod, names, signal);
      for (const [name, reason] of failed) rejected.set(name, rejections.unschedulable(reason));
      for (const [name, reason] of unresolvable) rejected.set(name, rejections.unresolvable(reason));
      const left = new Set(fitting);
      keep(
        filtered,
        (index) => left.has(known[index] ?? ""),
        (index) =>
          filtered.table.codeOf(
            rejected.get(known[index] ?? "") ?? rejections.unresolvable(`rejected by the extender ${extender.name}`),
          ),
      );
    } catch (error) {
      tolerate(parts, extender, error);
    }
  }
  dropGone(parts, filtered, known);
  return filtered.count < before;
}

/** The index of a deleted node may be reused by a new one that was not checked. `known`: names of the checked nodes. */
function dropGone({ state }: Parts, filtered: Filtered, known: readonly string[]): void {
  if (state.nodeNames === known) return;
  keep(
    filtered,
    (index) => state.nodes[index]?.name === known[index],
    () => UNSEEN,
  );
}

/** Adds the scores of extenders. An extender that fails adds none. */
export async function extenderScores(parts: Parts, filtered: Filtered, scored: Scored): Promise<Scored> {
  const { ranking: _, ...rest } = scored;
  const totals = scored.totals.slice();
  const known = parts.state.nodeNames;
  const names = namesOf(parts, filtered);
  const indexes = new Map(names.map((name, at) => [name, filtered.indexes[at]]));
  const asked = parts.extenders.filter(({ prioritize }) => prioritize !== undefined);
  await Promise.all(
    asked.map(async (extender) => {
      if (!extender.isInterested(filtered.pod)) return;
      try {
        const scores = (await extender.prioritize?.(filtered.pod, names, parts.signal)) ?? new Map<string, number>();
        for (const [name, score] of scores) {
          const index = indexes.get(name);
          if (index !== undefined) totals[index] = (totals[index] ?? 0) + score * extender.weight * SCORE_SCALE;
        }
      } catch (error) {
        if (isAbort(error, parts.signal)) throw error;
        parts.log.warn("an extender failed to score nodes", { extender: extender.name, pod: filtered.pod.key, error });
      }
    }),
  );
  dropGone(parts, filtered, known);
  return { ...rest, nodes: filtered, totals };
}

function namesOf({ state }: Parts, { indexes, count }: Filtered): readonly string[] {
  return [...indexes.subarray(0, count)].map((index) => state.nodes[index]?.name ?? "");
}

function keep(filtered: Filtered, isLeft: (index: number) => boolean, codeOf: (index: number) => number): void {
  const { indexes, codes } = filtered;
  let kept = 0;
  for (let at = 0; at < filtered.count; at++) {
    const index = indexes[at] ?? 0;
    if (isLeft(index)) indexes[kept++] = index;
    else codes[index] = codeOf(index);
  }
  filtered.count = kept;
  filtered.counts = undefined;
}

function tolerate(parts: Parts, { name, ignorable }: Extender, error: unknown): void {
  if (!ignorable || isAbort(error, parts.signal)) throw error;
  parts.log.warn("an ignorable extender failed", { extender: name, error });
}
