/**
 * Which Pods a continuing Job has to create or delete.
 *
 * 1. Never more active Pods than `parallelism` or missing successes; for an Indexed Job at most one for each index.
 * 2. A run either deletes or creates: surplus Pods are deleted first.
 * 3. Untracked Pods are deleted first: they are left behind by a controller that was interrupted between releasing and
 *    deleting a Pod, and can never count.
 */
import { inDeletionOrder, isEnding, type Pod } from "../pods/index.ts";
import { backoffMs, indexBackoffMs } from "./backoff.ts";
import { firstMissing, indexesOf, union } from "./indexes.ts";
import { indexOfPod, isTracked } from "./job-pod.ts";
import { type IndexView, indexesOfPods, isSuspended, type JobView } from "./job-view.ts";

/** Limit for one run; the next run continues. */
const BURST = 500;

export interface Population {
  readonly remove: readonly Pod[];
  /** One Pod for each element: of this index, or without an index. */
  readonly create: readonly (number | undefined)[];
  /** When more Pods can be created. */
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
  // Without completions, the first success means that the work is done: no more Pods are created.
  return succeeded > 0 ? active.length : parallelism;
}

function tooMany({ active, indexes }: JobView, atLeast: number): readonly Pod[] {
  const misplaced = indexes === undefined ? [] : misplacedPods(active, indexes.completions);
  if (misplaced.length >= atLeast) return misplaced;
  const others = new Set(active).difference(new Set(misplaced));
  return [...misplaced, ...inOrder([...others]).slice(0, atLeast - misplaced.length)];
}

/** Pods without a valid index, and all but one of those with the same index. */
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

/** Each index has its own backoff. */
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
