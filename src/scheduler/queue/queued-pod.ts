/** A pod that waits for a node, and what has become of it so far. */
import type { KubeObject } from "#api";
import type { HeapEntry } from "#base";
import type { PodInfo, Queued } from "../framework/index.ts";

export type QueueName = "active" | "backoff" | "unschedulable" | "gated" | "inFlight";

export interface QueuedPod extends Queued {
  /** As it was last told. */
  pod: PodInfo;
  /** When it came, or came back, into the queue. */
  addedMs: number;
  readonly sequence: number;
  /** When it could first have been tried; undefined as long as it never could. */
  sinceMs: number | undefined;
  where: QueueName;
  attempts: number;
  /** Attempts in which it was rejected: they make the wait longer. */
  rejectedCount: number;
  /** Attempts in a row that failed for another reason, such as an API server that does not answer. */
  errorCount: number;
  /** When it may be tried again. */
  backoffUntilMs: number;
  /** Plugins whose events wake it. */
  rejectors: ReadonlySet<string>;
  /** Those of them whose word is enough to try again at once. */
  pending: ReadonlySet<string>;
  /** The object whose change has queued it since its last attempt; undefined: its own, or time. */
  wokenBy: KubeObject | undefined;
  /** Somebody has asked for another attempt since this one began. */
  isWanted: boolean;
  /** No event has woken it, but time. */
  isLeftover: boolean;
  /** The plugin that holds it back before it is tried. */
  gate: string | undefined;
  entry: HeapEntry<QueuedPod> | undefined;
}

/** What came of an attempt that placed nothing. */
export type Failure =
  | { readonly kind: "rejected"; readonly rejectors: ReadonlySet<string>; readonly pending: ReadonlySet<string> }
  /** Nobody's verdict: something went wrong. */
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
    isWanted: false,
    isLeftover: false,
    gate: undefined,
    entry: undefined,
  };
}
