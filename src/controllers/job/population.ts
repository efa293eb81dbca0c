/**
 * Which Pods a Job that goes on needs, and which it has too many.
 *
 * 1. Never more active Pods than `parallelism`, nor than successes are missing; of an Indexed Job at most one for each index.
 * 2. A run either removes or creates: what is too much goes first.
 * 3. Of those too many, Pods that nothing tracks go first: a controller that was stopped between letting a Pod go and deleting it
 *    has left one behind that can never count.
 */
import { inDeletionOrder, isEnding, type Pod } from "../pods/index.ts";
import { backoffMs, indexBackoffMs } from "./backoff.ts";
import { firstMissing, indexesOf, union } from "./indexes.ts";
import { indexOfPod, isTracked } from "./job-pod.ts";
import { type IndexView, indexesOfPods, isSuspended, type JobView } from "./job-view.ts";

/** At most so many at once: the next run goes on. */
const BURST = 500;

export interface Population {
  readonly remove: readonly Pod[];
  /** One Pod for each: of this index, or of none. */
  readonly create: readonly (number | undefined)[];
  /** When more can be created. */
  readonly againAfterMs?: number;
}

const NO_CHANGE: Population = { remove: [], create: [] };

export function populationOf(view: JobView): Population {
  const { job, spec, active, terminating, pods, now, indexes } = view;
  if (isEnding(job)) return NO_CHANGE;
  if (isSuspended(spec)) return { ...NO_CHANGE, remove: active };
  const wanted = wantedActive(view);
  const remove = tooMany(view, active.length - wanted).slice(0, BURST);
  if (remove.length > 0) return { ...NO_CHANGE, remove };
  const awaited = spec.podReplacementPolicy === "Failed" ? terminating : [];
  const missing = Math.min(BURST, wanted - active.length - awaited.length);
  if (missing <= 0) return NO_CHANGE;
  if (indexes?.failed !== undefined) return independentIndexes(view, indexes, awaited, missing);
  const waitMs = backoffMs(pods, spec, now);
  if (waitMs > 0) return { ...NO_CHANGE, againAfterMs: waitMs };
  const create =
    indexes === undefined
      ? Array.from({ length: missing }, () => undefined)
      : pendingIndexes(view, indexes, awaited, missing);
  return { ...NO_CHANGE, create };
}

function wantedActive({ spec, active, succeeded }: JobView): number {
  const { parallelism = 1, completions } = spec;
  if (completions !== undefined) return Math.max(0, Math.min(parallelism, completions - succeeded));
  // The first success says that the work is done: those that run may end, and no other is started.
  return succeeded > 0 ? active.length : parallelism;
}

function tooMany({ active, indexes }: JobView, atLeast: number): readonly Pod[] {
  const misplaced = indexes === undefined ? [] : misplacedPods(active, indexes.completions);
  if (misplaced.length >= atLeast) return misplaced;
  const others = new Set(active).difference(new Set(misplaced));
  return [...misplaced, ...inOrder([...others]).slice(0, atLeast - misplaced.length)];
}

/** Pods without an index, with one that the Job does not have, and all but one of those that share one. */
function misplacedPods(active: readonly Pod[], completions: number): readonly Pod[] {
  const byIndex = new Map<number, Pod[]>();
  const misplaced: Pod[] = [];
  for (const pod of active) {
    const index = indexOfPod(pod);
    if (index === undefined || index >= completions) misplaced.push(pod);
    else byIndex.set(index, [...(byIndex.get(index) ?? []), pod]);
  }
  for (const pods of byIndex.values()) if (pods.length > 1) misplaced.push(...inOrder(pods).slice(0, -1));
  return misplaced;
}

function inOrder(pods: readonly Pod[]): readonly Pod[] {
  const ordered = inDeletionOrder(pods, () => 0);
  return [...ordered.filter((pod) => !isTracked(pod)), ...ordered.filter(isTracked)];
}

function pendingIndexes(
  { active }: JobView,
  { succeeded, failed = [], completions }: IndexView,
  awaited: readonly Pod[],
  count: number,
): readonly number[] {
  const taken = indexesOf(indexesOfPods([...active, ...awaited]));
  return firstMissing(union(union(succeeded, failed), taken), count, completions);
}

/** Each index waits for itself alone. */
function independentIndexes(view: JobView, indexes: IndexView, awaited: readonly Pod[], missing: number): Population {
  const pending = pendingIndexes(view, indexes, awaited, missing).map((index) => ({
    index,
    waitMs: indexBackoffMs(indexes.lastFailed.get(index), view.now),
  }));
  const waits = pending.map(({ waitMs }) => waitMs).filter((ms) => ms > 0);
  return {
    ...NO_CHANGE,
    create: pending.filter(({ waitMs }) => waitMs === 0).map(({ index }) => index),
    ...(waits.length > 0 && { againAfterMs: Math.min(...waits) }),
  };
}
