/**
 * A plugin's verdict on a pod, or on a pod and a node.
 *
 * 1. Expected outcomes are values. An exception is a bug or an outage: the attempt fails and the pod is retried later.
 * 2. Equal rejections of a plugin are the same object, so that thousands of nodes can refer to a handful of them.
 * 3. Reasons are those of kube-scheduler: they are counted and sorted in events and conditions.
 */
import { MemoMap } from "#base";

export const PASS = Object.freeze({ kind: "pass" as const });

export interface Rejection {
  /**
   * unschedulable: the pod would fit if other pods were removed.
   * unresolvable: removing pods would not help.
   * pending: the plugin waits for something, such as a gate or a preemption under way, and will wake the pod.
   */
  readonly kind: "unschedulable" | "unresolvable" | "pending";
  readonly plugin: string;
  readonly reasons: readonly string[];
}

export type Verdict = typeof PASS | Rejection;

export function isRejection(verdict: Verdict): verdict is Rejection {
  return verdict !== PASS;
}

/** The rejections of one plugin. */
export interface Rejections {
  unschedulable(...reasons: readonly string[]): Rejection;
  unresolvable(...reasons: readonly string[]): Rejection;
  pending(...reasons: readonly string[]): Rejection;
}

/** Reasons may name pods or claims, so their number is not bounded by itself. */
const MAX_REJECTIONS = 1_000;

export function rejectionsOf(plugin: string): Rejections {
  const known = new MemoMap<string, Rejection>(MAX_REJECTIONS);
  const one = (kind: Rejection["kind"], reasons: readonly string[]): Rejection => {
    const key = `${kind}\0${reasons.join("\0")}`;
    return known.getOrMake(key, () => Object.freeze({ kind, plugin, reasons: Object.freeze([...reasons]) }));
  };
  return {
    unschedulable: (...reasons) => one("unschedulable", reasons),
    unresolvable: (...reasons) => one("unresolvable", reasons),
    pending: (...reasons) => one("pending", reasons),
  };
}

/** How many nodes each rejection stands for. */
export type RejectionCounts = readonly (readonly [Rejection, number])[];

/** For the chosen node that was refused later: it is the only one that counts. */
export function oneNodeText(rejection: Rejection): string {
  return `0/1 nodes are available: ${reasonsText([[rejection, 1]])}`;
}

/** "2 Insufficient cpu, 3 node(s) had untolerated taint(s).": sorted as strings that begin with the count. */
export function reasonsText(counts: RejectionCounts): string {
  const byReason = new Map<string, number>();
  for (const [{ reasons }, count] of counts) {
    for (const reason of reasons) byReason.set(reason, (byReason.get(reason) ?? 0) + count);
  }
  if (byReason.size === 0) return "";
  return `${[...byReason]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort(byBytes)
    .join(", ")}.`;
}

function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
