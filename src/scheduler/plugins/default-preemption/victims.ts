/**
 * Who would have to go from one node.
 *
 * 1. Only pods that are less important can go. All of them go first; then, as long as the pod still fits, they stay after all: those whose budget would be violated
 *    before others, the most important first.
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
  /** The most important first. */
  readonly victims: readonly PodInfo[];
  readonly harm: Harm;
}

/** What speaks against a candidate: counted once, as it is remembered from one pod to the next, among hundreds. */
export interface Harm {
  /** Budgets that would be violated. */
  readonly violations: number;
  readonly highest: number;
  readonly sum: number;
  readonly count: number;
  /** When the first of the most important ones has started; infinite if none has. */
  readonly startedMs: number;
  /** One of them has not: it counts as starting now. */
  readonly hasUnstarted: boolean;
}

/** `victims`: the most important first. */
export function candidateOf(node: NodeInfo, victims: readonly PodInfo[], violations: number): Candidate {
  const highest = victims[0]?.priority ?? 0;
  let [sum, startedMs, hasUnstarted] = [0, Number.POSITIVE_INFINITY, false];
  for (const { priority, pod } of victims) {
    // Negative priorities must not make more victims look cheaper than fewer.
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

/** A node that the pod fits on although it was rejected there: only somebody who is not asked here, such as an extender, can have done that. */
export interface Surprise {
  readonly kind: "surprise";
  readonly message: string;
}

export type Victims = Candidate | Rejection | Surprise;

export function victimsOn(
  failed: Pick<NoFit, "pod" | "trial">,
  node: NodeInfo,
  budgets: readonly policy.PodDisruptionBudget[],
  nowMs: number,
): Victims {
  const { pod } = failed;
  const possible = [...node.pods.values()].filter((other) => other.priority < pod.priority);
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
  if (victims.length === 0) return { kind: "surprise", message: noVictimText(node.name) };
  return candidateOf(node, victims.sort(order), violations);
}

export function noVictimText(node: string): string {
  return `expected at least one victim pod on node "${node}"`;
}

/** Of equal priority, whoever runs longer is more important. */
export function byImportance(nowMs: number) {
  return (a: PodInfo, b: PodInfo): number =>
    b.priority - a.priority || startedMs(a, nowMs) - startedMs(b, nowMs) || (a.key < b.key ? -1 : 1);
}

/** One that has not started counts as starting now. */
function startedMs({ pod }: PodInfo, nowMs: number): number {
  const { startTime } = pod.status ?? {};
  return startTime === undefined ? nowMs : Date.parse(startTime);
}
