/** Extenders in an attempt: each gets the nodes that the one before has left. */
import { isAbort } from "#base";
import { type Extender, type Filtered, type Rejection, rejectionsOf, type Scored } from "../framework/index.ts";
import type { Parts } from "./parts.ts";

const rejections = rejectionsOf("");
/** Extenders give 0 to 10. */
const SCORE_SCALE = 10;

/** Thins out the nodes that fit. Returns why, by name. Throws what an extender fails with that must not be ignored. */
export async function askExtenders(parts: Parts, filtered: Filtered): Promise<ReadonlyMap<string, Rejection>> {
  const { state, signal } = parts;
  const rejected = new Map<string, Rejection>();
  for (const extender of parts.extenders) {
    if (filtered.count === 0) break;
    if (extender.filter === undefined || !extender.isInterested(filtered.pod)) continue;
    const names = namesOf(parts, filtered);
    try {
      const { fitting, failed, unresolvable } = await extender.filter(filtered.pod, names, signal);
      for (const [name, reason] of failed) rejected.set(name, rejections.unschedulable(reason));
      for (const [name, reason] of unresolvable) rejected.set(name, rejections.unresolvable(reason));
      keep(filtered, new Set(fitting.flatMap((name) => state.nodeNamed(name)?.index ?? [])), (index) => {
        const rejection = rejected.get(state.nodes[index]?.name ?? "");
        return filtered.table.codeOf(
          rejection ?? rejections.unschedulable(`rejected by the extender ${extender.name}`),
        );
      });
    } catch (error) {
      tolerate(parts, extender, error);
    }
  }
  return rejected;
}

/** With what extenders think of the nodes. One that fails has no opinion. */
export async function extenderScores(parts: Parts, filtered: Filtered, scored: Scored): Promise<Scored> {
  const { ranking: _, ...rest } = scored;
  const totals = scored.totals.slice();
  const names = namesOf(parts, filtered);
  const asked = parts.extenders.filter(({ prioritize }) => prioritize !== undefined);
  await Promise.all(
    asked.map(async (extender) => {
      if (!extender.isInterested(filtered.pod)) return;
      try {
        const scores = (await extender.prioritize?.(filtered.pod, names, parts.signal)) ?? new Map<string, number>();
        for (const [name, score] of scores) {
          const index = parts.state.nodeNamed(name)?.index;
          if (index !== undefined) totals[index] = (totals[index] ?? 0) + score * extender.weight * SCORE_SCALE;
        }
      } catch (error) {
        if (isAbort(error, parts.signal)) throw error;
        parts.log.warn("an extender gave no scores", { extender: extender.name, pod: filtered.pod.key, error });
      }
    }),
  );
  return { ...rest, totals };
}

function namesOf({ state }: Parts, { indexes, count }: Filtered): readonly string[] {
  return [...indexes.subarray(0, count)].map((index) => state.nodes[index]?.name ?? "");
}

function keep(filtered: Filtered, fitting: ReadonlySet<number>, codeOf: (index: number) => number): void {
  const { indexes, codes } = filtered;
  let kept = 0;
  for (let at = 0; at < filtered.count; at++) {
    const index = indexes[at] ?? 0;
    if (fitting.has(index)) indexes[kept++] = index;
    else codes[index] = codeOf(index);
  }
  filtered.count = kept;
  filtered.counts = undefined;
}

function tolerate(parts: Parts, { name, ignorable }: Extender, error: unknown): void {
  if (!ignorable || isAbort(error, parts.signal)) throw error;
  parts.log.warn("an extender that may be ignored failed", { extender: name, error });
}
