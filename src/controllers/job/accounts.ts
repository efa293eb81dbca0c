/**
 * Counts every Pod of a Job exactly once, wherever the controller is interrupted:
 *
 *     finished, tracked ══► uid (or index) in the status ══► finalizer removed ══► uid becomes a count
 *
 * 1. A finalizer is removed only when the cached status contains the Pod: until then the Pod cannot vanish uncounted.
 * 2. A uid becomes a count, in one write, only when the Pod has no finalizer any more: until then it stays in the list
 *    and is not added again.
 */
import type { batch } from "#api";
import { isEnding, type Pod } from "../pods/index.ts";
import type { Ending } from "./ending.ts";
import { hasIndex } from "./indexes.ts";
import { hasFailed, hasSucceeded, indexOfPod, isTracked, uidOf } from "./job-pod.ts";
import { isOfValidIndex, type JobView, judgementOf } from "./job-view.ts";

/** Limit for one run: the status has to stay small. */
const MAX_UNCOUNTED = 500;

export interface Settlement {
  /** Pods that are counted, or never will be: their finalizers can be removed. */
  readonly letGo: readonly Pod[];
  /** Uids to add to the status. */
  readonly succeeded: readonly string[];
  readonly failed: readonly string[];
}

export function settlementOf(view: JobView, ending: Ending | undefined): Settlement {
  const { pods, uncounted } = view;
  const letGo: Pod[] = [];
  const entries = { succeeded: [] as string[], failed: [] as string[] };
  let room = MAX_UNCOUNTED - uncounted.succeeded.size - uncounted.failed.size;
  for (const pod of pods) {
    if (!isTracked(pod)) continue;
    const entry = entryFor(pod, view, ending);
    if (entry === "wait") continue;
    if (entry === "none") letGo.push(pod);
    else if (room-- > 0) entries[entry].push(uidOf(pod));
  }
  return { letGo, ...entries };
}

/** The list that the Pod has to be added to; none if it needs no entry; wait if it is too early. */
function entryFor(pod: Pod, view: JobView, ending: Ending | undefined): "succeeded" | "failed" | "none" | "wait" {
  const { job, spec, uncounted, indexes } = view;
  const failed = hasFailed(pod, spec);
  if (uncounted.failed.has(uidOf(pod)) || uncounted.succeeded.has(uidOf(pod))) return "none";
  if (hasSucceeded(pod)) {
    if (indexes === undefined) return "succeeded";
    // Succeeded indexes are recorded together.
    return !isOfValidIndex(pod, spec) || hasIndex(indexes.recorded, indexOfPod(pod) ?? -1) ? "none" : "wait";
  }
  if (ending === undefined && !isEnding(job)) {
    if (!failed) return "wait";
    if (indexes?.lastFailed.get(indexOfPod(pod) ?? -1) === pod) return "wait";
  }
  // When a Job fails, all Pods that have not succeeded count as failed.
  if (!failed && ending?.outcome !== "failure") return "none";
  return isOfValidIndex(pod, spec) && judgementOf(spec, pod).counts ? "failed" : "none";
}

export interface Counted {
  readonly uncountedTerminatedPods: batch.UncountedTerminatedPods;
  /** How many uids have become counts. */
  readonly succeeded: number;
  readonly failed: number;
  /** How many Pods are still tracked. */
  readonly held: number;
}

/** `released`: uids of Pods whose finalizers were just removed. */
export function countReleased(view: JobView, settlement: Settlement, released: ReadonlySet<string>): Counted {
  const { pods, uncounted } = view;
  const held = new Set(pods.filter((pod) => isTracked(pod) && !released.has(uidOf(pod))).map(uidOf));
  const succeeded = [...[...uncounted.succeeded].filter((uid) => held.has(uid)), ...settlement.succeeded];
  const failed = [...[...uncounted.failed].filter((uid) => held.has(uid)), ...settlement.failed];
  return {
    uncountedTerminatedPods: {
      ...(succeeded.length > 0 && { succeeded }),
      ...(failed.length > 0 && { failed }),
    },
    succeeded: uncounted.succeeded.size - (succeeded.length - settlement.succeeded.length),
    failed: uncounted.failed.size - (failed.length - settlement.failed.length),
    held: held.size,
  };
}
