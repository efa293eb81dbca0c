/**
 * The pods that would have to be evicted from one node.
 *
 * 1. Only pods with lower priority are victims. First all of them are removed; then, while the pod still fits, pods are
 *    added again: those whose PodDisruptionBudget would be violated first, then by importance.
 */
import type { policy } from "#api";
import {
  isRejection,
  type NodeInfo,
  type NoFit,
  type PodInfo,
  type Rejection,
  rejectionsOf,
} from "../../framework/index.ts";
import { splitByBudgets } from "./budgets.ts";

const NO_VICTIMS = rejectionsOf("DefaultPreemption").unresolvable("No preemption victims found for incoming pod");

export interface Candidate {
  readonly kind: "candidate";
  readonly node: NodeInfo;
  /** Most important first. */
  readonly victims: readonly PodInfo[];
  readonly harm: Harm;
}

/** What candidates are compared by. Computed once, because candidates are reused for other pods. */
export interface Harm {
  /** Number of PodDisruptionBudget violations. */
  readonly violations: number;
  readonly highest: number;
  readonly sum: number;
  readonly count: number;
  /** Earliest start among the most important victims; infinite if none has started. */
  readonly startedMs: number;
  /** One of them has not started: it counts as starting now. */
  readonly hasUnstarted: boolean;
}

/** `victims`: most important first. */
export function candidateOf(node: NodeInfo, victims: readonly PodInfo[], violations: number): Candidate {
  const highest = victims[0]?.priority ?? 0;
  let [sum, startedMs, hasUnstarted] = [0, Number.POSITIVE_INFINITY, false];
  for (const { priority, pod } of victims) {
    // With negative priorities, more victims must not look cheaper than fewer.
    sum += priority + 2 ** 31;
    if (priority !== highest) continue;
    const { startTime } = pod.status ?? {};
    if (startTime === undefined) hasUnstarted = true;
    else startedMs = Math.min(startedMs, Date.parse(startTime));
  }
  return {
    kind: "candidate",
    node,
    victims,
    harm: { violations, highest, sum, count: victims.length, startedMs, hasUnstarted },
  };
}

/** The pod fits without evictions although it was rejected: the rejection came from outside, such as an extender. */
export interface UnexpectedFit {
  readonly kind: "unexpected";
  readonly message: string;
}

export type Victims = Candidate | Rejection | UnexpectedFit;

export function victimsOn(
  failed: Pick<NoFit, "pod" | "trial">,
  node: NodeInfo,
  budgets: readonly policy.PodDisruptionBudget[],
  nowMs: number,
  priorityOf: (pod: PodInfo) => number = ({ priority }) => priority,
): Victims {
  const { pod } = failed;
  const possible = [...node.pods.values()].filter((other) => priorityOf(other) < pod.priority);
  if (possible.length === 0) return NO_VICTIMS;
  const trial = failed.trial(node);
  for (const other of possible) trial.remove(other);
  const verdict = trial.verdict();
  if (isRejection(verdict)) return verdict;
  const order = byImportance(nowMs);
  const { violating, others } = splitByBudgets(possible.toSorted(order), budgets);
  const victims: PodInfo[] = [];
  const spare = (other: PodInfo): boolean => {
    trial.add(other);
    if (!isRejection(trial.verdict())) return true;
    trial.remove(other);
    victims.push(other);
    return false;
  };
  const violations = violating.filter((other) => !spare(other)).length;
  for (const other of others) spare(other);
  if (victims.length === 0) return { kind: "unexpected", message: noVictimText(node.name) };
  return candidateOf(node, victims.sort(order), violations);
}

export function noVictimText(node: string): string {
  return `expected at least one victim pod on node "${node}"`;
}

/** By priority, then by start time: the longer a pod runs, the more important it is. */
export function byImportance(nowMs: number) {
  return (a: PodInfo, b: PodInfo): number =>
    b.priority - a.priority || startedMs(a, nowMs) - startedMs(b, nowMs) || (a.key < b.key ? -1 : 1);
}

/** A pod that has not started counts as starting now. */
function startedMs({ pod }: PodInfo, nowMs: number): number {
  const { startTime } = pod.status ?? {};
  return startTime === undefined ? nowMs : Date.parse(startTime);
}
