/** A pod without a node, with the history of its attempts. */
import type { KubeObject } from "#api";
import type { HeapEntry } from "#base";
import type { PodInfo, Queued } from "../framework/index.ts";

export type QueueName = "active" | "backoff" | "unschedulable" | "gated" | "inFlight";

export interface QueuedPod extends Queued {
  /** Its latest state from the API server. */
  pod: PodInfo;
  /** When it entered, or re-entered, the queue. */
  addedMs: number;
  readonly sequence: number;
  /** When it first became active; undefined until then. */
  sinceMs: number | undefined;
  where: QueueName;
  attempts: number;
  /** Attempts in which plugins rejected it. They lengthen its backoff. */
  rejectedCount: number;
  /** Consecutive attempts that failed with an error, for example because the API server did not answer. */
  errorCount: number;
  /** When its backoff ends. */
  backoffUntilMs: number;
  /** Plugins that rejected it in its last attempt: the events that they registered wake it. */
  rejectors: ReadonlySet<string>;
  /** Rejectors that were pending: their events activate it without backoff. */
  pending: ReadonlySet<string>;
  /** The object whose change woke it since its last attempt; undefined if that was its own change, or a timeout. */
  wokenBy: KubeObject | undefined;
  /** Another attempt was requested while this one was in flight. */
  retryRequested: boolean;
  /** The timeout of parked pods woke it, not an event. */
  wasFlushed: boolean;
  /** The plugin whose preEnqueue gates it. */
  gate: string | undefined;
  entry: HeapEntry<QueuedPod> | undefined;
}

/** The outcome of an attempt that did not place the pod. */
export type Failure =
  | { readonly kind: "rejected"; readonly rejectors: ReadonlySet<string>; readonly pending: ReadonlySet<string> }
  /** An error, not a verdict. */
  | { readonly kind: "error" };

export function newQueuedPod(pod: PodInfo, sequence: number, nowMs: number): QueuedPod {
  return {
    pod,
    sequence,
    addedMs: nowMs,
    sinceMs: undefined,
    where: "inFlight",
    attempts: 0,
    rejectedCount: 0,
    errorCount: 0,
    backoffUntilMs: 0,
    rejectors: new Set(),
    pending: new Set(),
    wokenBy: undefined,
    retryRequested: false,
    wasFlushed: false,
    gate: undefined,
    entry: undefined,
  };
}

export function schedulerOf({ pod }: QueuedPod): string {
  return pod.pod.spec?.schedulerName ?? "";
}

/** The gating plugin, in the form of a set of rejectors. */
export function gateSet({ gate = "" }: QueuedPod): ReadonlySet<string> {
  return new Set([gate]);
}
