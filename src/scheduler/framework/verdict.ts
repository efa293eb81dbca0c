/**
 * What a plugin says about a pod, or about a pod and a node.
 *
 * 1. Expected outcomes are values. Whatever is thrown is a fault of the scheduler or of the world: the attempt fails, the pod is tried again later.
 * 2. Rejections are made once and shared: equal ones of a plugin are the same object, so that thousands of nodes can point to a handful.
 * 3. Reasons are the words that users know from the original: they are counted and sorted in events and conditions.
 */
import { MemoMap } from "#base";

export const PASS = Object.freeze({ kind: "pass" as const });

export interface Rejection {
  /**
   * unschedulable: not now, but it would help if other pods went.
   * unresolvable: no matter who goes.
   * pending: the plugin itself waits for something (such as a gate, or a preemption that is under way) and will wake the pod.
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

/** Texts that name pods or claims come in any number. */
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

/** Of a node that had been chosen, and was refused afterwards: it is the only one that counts. */
export function oneNodeText(rejection: Rejection): string {
  return `0/1 nodes are available: ${reasonsText([[rejection, 1]])}`;
}

/** "2 Insufficient cpu, 3 node(s) had untolerated taint(s).": sorted as texts, counts first. */
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
