/**
 * An attempt for a group: all of its Pods that wait are tried together, and either enough of them get a node, or none.
 *
 *     gather the Pods ──► try them, each after the other ──► enough fit? ──► bind all that fit, try the rest alone
 *                                                              └ no: release all ──► preempt ──► back to the queue
 *
 * 1. Nothing is held while a group waits: two groups that fit only half each cannot block each other.
 * 2. A group without the gang policy needs one Pod that fits; without the gate GangScheduling all groups are such.
 * 3. The Pods of a group that fails are woken by what any of them was rejected for, because they are tried together.
 */
import { abortable, isAbort } from "#base";
import { type Group, type GroupPostFiltered, minCountOf, type NodeSubset } from "../framework/index.ts";
import type { QueuedPod } from "../queue/index.ts";
import { beginBinding, observePoint } from "./attempt.ts";
import { unreserve } from "./binding.ts";
import { type FailedAttempt, handleFailure, messageOf } from "./failures.ts";
import { placeGroup } from "./group-placements.ts";
import { preemptForGroup } from "./group-preemption.ts";
import { publishOutcome } from "./group-status.ts";
import type { GroupTrial, HeldPod } from "./group-trial.ts";
import type { Parts } from "./parts.ts";

const GANG = "GangScheduling";
const TOPOLOGY = "TopologyPlacement";
const PREEMPTING = "pod group is unschedulable, pod group is waiting for preemption to complete";
const NOT_HERE: GroupPostFiltered = {
  kind: "rejected",
  message: "workload aware preemption is not supported for pod groups with scheduling constraints",
  clears: true,
};
const WAITS = "waiting for minCount pods from a gang to be scheduled";

/** What the scheduling loop does. */
export interface Loop {
  /** Whether the Pod can be placed; else it leaves the queue. */
  isTriable(queued: QueuedPod): boolean;
  /** An ordinary attempt. */
  tryAlone(parts: Parts, queued: QueuedPod, within?: NodeSubset): Promise<void> | undefined;
  /** Undefined if one more binding may begin, else resolves when it may. */
  room(): Promise<void> | undefined;
}

/** How an attempt for a group ends. */
export type GroupOutcome =
  | { readonly kind: "scheduled"; readonly trial: GroupTrial }
  | {
      readonly kind: "unschedulable";
      readonly trial: GroupTrial;
      readonly message: string;
      readonly room: GroupPostFiltered | undefined;
    }
  | { readonly kind: "error"; readonly message: string };

export async function tryGroup(parts: Parts, group: Group, first: QueuedPod, loop: Loop): Promise<void> {
  const startedMs = parts.clock.monotonic();
  const members = gather(parts, group, first, loop);
  try {
    const outcome = await decideGroup(parts, group, members);
    observeGroup(parts, first, outcome.kind, startedMs);
    publishOutcome(parts, group, outcome);
    if (outcome.kind === "scheduled") await commit(parts, outcome.trial, loop);
    else if (outcome.kind === "error") failAll(parts, members, startedMs, outcome.message);
    else rejectAll(parts, group, outcome, startedMs);
  } catch (error) {
    if (isAbort(error, parts.signal)) return;
    parts.log.error("an attempt to schedule a pod group failed", { group: group.key, error });
    failAll(parts, members, startedMs, messageOf(error));
  }
}

/** All Pods of the group that wait, in the order in which they are tried: by priority, then by age. */
function gather({ queue }: Parts, group: Group, first: QueuedPod, loop: Loop): readonly QueuedPod[] {
  const members = [first];
  for (const uid of group.pods.keys()) {
    const queued = uid === first.pod.uid ? undefined : queue.takeAlso(uid);
    if (queued !== undefined && loop.isTriable(queued)) members.push(queued);
  }
  return members.sort(
    (a, b) => b.pod.priority - a.pod.priority || (a.sinceMs ?? 0) - (b.sinceMs ?? 0) || a.sequence - b.sequence,
  );
}

async function decideGroup(parts: Parts, group: Group, members: readonly QueuedPod[]): Promise<GroupOutcome> {
  const mixed = mixedNames(members);
  if (mixed !== undefined) return { kind: "error", message: mixed };
  const { state, isGangScheduling } = parts;
  const minCount = isGangScheduling ? minCountOf(group) : 1;
  const on = [...group.pods.keys()].flatMap((uid) => state.placeOf(uid)?.node ?? []);
  const wanted = Math.max(1, minCount - on.length);
  const {
    trial,
    fits,
    message: why = "pod group is unschedulable",
  } = await placeGroup(parts, group, { members, wanted }, on);
  if (trial.fault !== undefined) {
    const { pod, message } = trial.fault;
    return { kind: "error", message: `failed to schedule other pod from a pod group: ${pod.pod.key}: ${message}` };
  }
  if (fits) return { kind: "scheduled", trial };
  const message = lackText(why, trial, minCount, on.length);
  const isConstrained = group.object?.spec.schedulingConstraints !== undefined;
  // Upstream does not, either: which part of the cluster should be cleared?
  const room = isConstrained ? NOT_HERE : preemptForGroup(parts, group, members, wanted);
  if (room?.kind === "nominated") return { kind: "unschedulable", trial, message: PREEMPTING, room };
  return { kind: "unschedulable", trial, message: room === undefined ? message : `${message}; ${room.message}`, room };
}

function mixedNames(members: readonly QueuedPod[]): string | undefined {
  const [one, other] = new Set(members.map(({ pod }) => pod.pod.spec?.schedulerName ?? ""));
  if (other === undefined) return undefined;
  const names = `${JSON.stringify(one)} and ${JSON.stringify(other)}`;
  return `all pods in a single pod group should have the same .spec.schedulerName set, got: ${names}`;
}

function lackText(why: string, { held, misfits, left }: GroupTrial, minCount: number, before: number): string {
  const [first] = misfits;
  const pod = first === undefined ? "" : `; ${first.attempt.queued.pod.key}: ${first.message}`;
  const lack = `${held.length + before} scheduled, ${left.length} remaining`;
  return `${why}, minCount (${minCount}) cannot be satisfied: ${lack}${pod}`;
}

/** Binds the Pods that are held; then those of the group that did not fit have an attempt of their own. */
async function commit(parts: Parts, { held, misfits, within }: GroupTrial, loop: Loop): Promise<void> {
  for (const each of held) {
    const full = loop.room();
    if (full !== undefined) await abortable(full, parts.signal);
    bindHeld(parts, each);
  }
  for (const { attempt } of misfits) await loop.tryAlone(parts, attempt.queued, within);
}

function bindHeld(parts: Parts, { attempt, placement, decidedMs, explained }: HeldPod): void {
  const { queue, state, explanations } = parts;
  const { pod } = attempt.queued;
  if (queue.get(pod.uid) !== attempt.queued || state.placeOf(pod.uid) === undefined) {
    // It was deleted while others began.
    unreserve(parts, placement);
    queue.done(pod.uid);
    return;
  }
  observePoint(parts, attempt, "Score", decidedMs - attempt.filteredMs);
  parts.metrics.algorithmSeconds.labels().observe((decidedMs - attempt.startedMs) / 1000);
  explanations.add(pod.uid, explained.explanation, explained.cells);
  beginBinding(parts, attempt, placement, decidedMs);
}

function rejectAll(
  parts: Parts,
  group: Group,
  { trial, message, room }: Extract<GroupOutcome, { kind: "unschedulable" }>,
  startedMs: number,
): void {
  const constrained = group.object?.spec.schedulingConstraints === undefined ? [] : [TOPOLOGY];
  const rejectors = new Set([GANG, ...constrained, ...trial.misfits.flatMap((misfit) => [...misfit.rejectors])]);
  const pending = new Set(trial.misfits.flatMap((misfit) => [...misfit.pending]));
  const fail = (queued: QueuedPod, why: string, more: Partial<FailedAttempt> = {}) =>
    handleFailure(parts, {
      queued,
      schedulerName: queued.pod.pod.spec?.schedulerName ?? "",
      failure: { kind: "rejected", rejectors, pending },
      message: room?.kind === "nominated" ? message : why,
      nominate: nominationIn(room, queued.pod.uid),
      startedMs,
      ...more,
    });
  for (const { attempt } of trial.held) fail(attempt.queued, WAITS);
  for (const { attempt, message: why, explained } of trial.misfits) {
    if (explained !== undefined) parts.explanations.add(attempt.queued.pod.uid, explained.explanation, explained.cells);
    fail(attempt.queued, why, { isExplained: explained !== undefined });
  }
  for (const queued of trial.left) fail(queued, message);
  parts.log.debug("a pod group does not fit", { group: group.key, message });
}

/** Undefined: an earlier one stays. */
function nominationIn(room: GroupPostFiltered | undefined, uid: string): string | undefined {
  if (room?.kind === "nominated") return room.nodes.get(uid) ?? "";
  return room === undefined || room.clears ? "" : undefined;
}

function failAll(parts: Parts, members: readonly QueuedPod[], startedMs: number, message: string): void {
  for (const queued of members) {
    if (queued.where !== "inFlight" || parts.state.placeOf(queued.pod.uid) !== undefined) continue;
    const schedulerName = queued.pod.pod.spec?.schedulerName ?? "";
    handleFailure(parts, { queued, schedulerName, failure: { kind: "error" }, message, nominate: "", startedMs });
  }
}

function observeGroup(
  { metrics, clock }: Parts,
  { pod }: QueuedPod,
  result: GroupOutcome["kind"],
  startedMs: number,
): void {
  const profile = pod.pod.spec?.schedulerName ?? "";
  metrics.groupAttempts.labels(result, profile).inc();
  metrics.groupSeconds.labels(result, profile).observe((clock.monotonic() - startedMs) / 1000);
}
