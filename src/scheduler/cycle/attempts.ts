/**
 * The scheduling loop and its attempts: from a pod in the queue to a node that it is assumed to be on, or to a reason
 * why there is none.
 *
 * 1. An attempt is synchronous, unless extenders are called or a postFilter waits.
 * 2. Whatever happens, the pod is bound, back in the queue, or no longer this scheduler's: it is never lost.
 * 3. The loop yields every few pods, so that responses and watch events are handled while the queue is long.
 * 4. The number of bindings under way is bounded: beyond it the loop waits.
 */
import { abortable, isAbort, isPending, nextTurn } from "#base";
import type { Evaluator, Filtered, FilterOptions, Scored } from "../evaluation/index.ts";
import { oneNodeText, type PodInfo, type Rejection } from "../framework/index.ts";
import { EXTENDER, type QueuedPod } from "../queue/index.ts";
import {
  type Attempt,
  beginBinding,
  enoughOf,
  hold,
  newAttempt,
  nominatedOf,
  note,
  observeAlgorithm,
  observePoint,
  pickNode,
} from "./attempt.ts";
import { diagnose, NO_NODES } from "./diagnosis.ts";
import { askExtenders, extenderScores } from "./extended.ts";
import { handleFailure, messageOf } from "./failures.ts";
import { tryGroup } from "./group-cycle.ts";
import type { Parts } from "./parts.ts";
import { postFilter } from "./post-filter.ts";

const PODS_PER_TURN = 16;

/** Until the signal aborts. `room`: undefined if one more binding may begin, else resolves when it may. */
export async function scheduleLoop(parts: Parts, room: () => Promise<void> | undefined): Promise<void> {
  const { queue, signal } = parts;
  let turn = 0;
  while (!signal.aborted) {
    const queued = queue.take();
    if (queued === undefined) {
      await abortable(queue.ready(), signal);
      continue;
    }
    await (tryAsGroup(parts, queued, room) ?? tryPod(parts, queued));
    const full = room();
    if (full !== undefined) await abortable(full, signal);
    turn += 1;
    if (turn % PODS_PER_TURN === 0) await nextTurn();
  }
}

/** Undefined: the Pod is in no group. */
function tryAsGroup(parts: Parts, queued: QueuedPod, room: () => Promise<void> | undefined): Promise<void> | undefined {
  const group = parts.groups?.of(queued.pod.pod);
  if (group === undefined || !isTriable(parts, queued)) return undefined;
  const others = { isTriable: (other: QueuedPod) => isTriable(parts, other), tryAlone, room };
  return tryGroup(parts, group, queued, others);
}

/** Whether the Pod can be placed; else it leaves the queue. */
function isTriable(parts: Parts, { pod }: QueuedPod): boolean {
  const evaluator = parts.evaluators.get(pod.pod.spec?.schedulerName ?? "");
  if (evaluator !== undefined && !pod.terminating && parts.state.placeOf(pod.uid) === undefined) return true;
  if (evaluator !== undefined && pod.terminating) reportSkipped(parts, evaluator, pod);
  parts.queue.done(pod.uid);
  return false;
}

function tryPod(parts: Parts, queued: QueuedPod): Promise<void> | undefined {
  return isTriable(parts, queued) ? tryAlone(parts, queued) : undefined;
}

/** `within`: the only nodes that are considered. */
function tryAlone(parts: Parts, queued: QueuedPod, within?: FilterOptions["within"]): Promise<void> | undefined {
  const { pod } = queued;
  const evaluator = parts.evaluators.get(pod.pod.spec?.schedulerName ?? "");
  if (evaluator === undefined) return undefined;
  const attempt = newAttempt(parts, queued, evaluator);
  const onError = (error: unknown) => {
    if (isAbort(error, parts.signal)) return;
    parts.log.error("an attempt to schedule failed", { pod: pod.key, error });
    observeAlgorithm(parts, attempt);
    fail(parts, attempt, messageOf(error));
  };
  try {
    return place(parts, attempt, within)?.catch(onError);
  } catch (error) {
    onError(error);
    return undefined;
  }
}

function reportSkipped({ events }: Parts, { stages }: Evaluator, { pod, key }: PodInfo): void {
  events(stages.schedulerName).record({
    about: pod,
    type: "Warning",
    reason: "FailedScheduling",
    action: "Scheduling",
    note: `skip schedule deleting pod: ${key}`,
  });
}

function place(parts: Parts, attempt: Attempt, within: FilterOptions["within"]): Promise<void> | undefined {
  const { state, extenders } = parts;
  const { queued, evaluator } = attempt;
  const { pod } = queued;
  if (state.nodeCount === 0) {
    const rejectors = new Set(["NodeName"]);
    handleFailure(parts, {
      ...attempt,
      schedulerName: evaluator.stages.schedulerName,
      failure: { kind: "rejected", rejectors, pending: new Set() },
      message: NO_NODES,
      nominate: "",
    });
    return undefined;
  }
  const options = { nominated: nominatedOf(parts, pod), enough: enoughOf(parts, evaluator), within };
  const filtered = evaluator.filter(pod, options);
  parts.metrics.evaluationsOf(evaluator.stages).filtered(filtered);
  attempt.filteredMs = parts.clock.monotonic();
  observePoint(parts, attempt, "Filter", attempt.filteredMs - attempt.startedMs);
  if (filtered.count > 0 && extenders.some((extender) => extender.isInterested(pod)))
    return placeExtended(parts, attempt, filtered, options);
  return filtered.count === 0 ? rejectPod(parts, attempt, filtered) : choose(parts, attempt, filtered);
}

/** While extenders are called, the cluster changes: nodes and the pod itself may be deleted. */
async function placeExtended(parts: Parts, attempt: Attempt, first: Filtered, options: FilterOptions): Promise<void> {
  const { evaluator, queued } = attempt;
  const { pod } = queued;
  let filtered = first;
  let rejectsAny = false;
  if (isNominatedNode(parts, filtered, options)) {
    try {
      await askExtenders(parts, filtered);
    } catch (error) {
      if (isAbort(error, parts.signal)) throw error;
      filtered.count = 0;
      parts.log.warn("extenders failed for the nominated node of a pod", { pod: pod.key, error });
    }
    if (filtered.count === 0) {
      filtered = evaluator.filter(pod, { ...options, skipsNominated: true });
      rejectsAny = await askExtenders(parts, filtered);
    }
  } else rejectsAny = await askExtenders(parts, filtered);
  if (!isUnscheduled(parts, queued)) return;
  if (filtered.count === 0) return rejectPod(parts, attempt, filtered, rejectsAny);
  // A single node needs no scores.
  if (filtered.count === 1) return choose(parts, attempt, filtered);
  const scored = await extenderScores(parts, filtered, evaluator.score(filtered));
  if (isUnscheduled(parts, queued)) choose(parts, attempt, filtered, scored);
}

/** Whether only the nominated node was checked. */
function isNominatedNode({ state }: Parts, { count, indexes }: Filtered, { nominated }: FilterOptions): boolean {
  return count === 1 && nominated !== undefined && state.nodes[indexes[0] ?? -1]?.name === nominated;
}

/** Whether the pod still exists and has no node. */
function isUnscheduled({ queue, state }: Parts, queued: QueuedPod): boolean {
  const { uid } = queued.pod;
  if (queue.get(uid) === queued && state.placeOf(uid) === undefined) return true;
  if (queue.get(uid) === queued) queue.done(uid);
  return false;
}

function choose(parts: Parts, attempt: Attempt, filtered: Filtered, given?: Scored): undefined {
  const { metrics, clock } = parts;
  const { node, scored } = pickNode(parts, attempt, filtered, given);
  const decidedMs = clock.monotonic();
  if (given === undefined && scored !== undefined)
    observePoint(parts, attempt, "Score", decidedMs - attempt.filteredMs);
  metrics.algorithmSeconds.labels().observe((decidedMs - attempt.startedMs) / 1000);
  const outcome = { kind: "scheduled", node: node.name } as const;
  note(parts, attempt, filtered, outcome, scored && { scored: { scored, chosen: node.index } });
  const held = hold(parts, attempt, filtered, node);
  if (held.kind === "failed") fail(parts, attempt, held.message);
  else if (held.kind === "refused") reject(parts, attempt, held.rejection);
  else beginBinding(parts, attempt, held.placement, decidedMs);
  return undefined;
}

function rejectPod(parts: Parts, attempt: Attempt, filtered: Filtered, byExtenders = false): Promise<void> | undefined {
  const diagnosis = diagnose(filtered, parts.state);
  const rejectors = byExtenders ? new Set([...diagnosis.rejectors, EXTENDER]) : diagnosis.rejectors;
  const finish = ({ message, nominate }: { readonly message: string; readonly nominate: string | undefined }) => {
    const whole = message === "" ? diagnosis.message : `${diagnosis.message} ${message}`;
    const nominated = nominate === undefined || nominate === "" ? {} : { nominated: nominate };
    const counted = diagnosis.counts;
    note(parts, attempt, filtered, { kind: "unschedulable", message: whole, ...nominated }, { counted });
    const status = nominate === undefined || nominate === "" ? "Unschedulable" : "Success";
    observePoint(parts, attempt, "PostFilter", parts.clock.monotonic() - startedMs, status);
    observeAlgorithm(parts, attempt);
    handleFailure(parts, {
      ...attempt,
      schedulerName: attempt.evaluator.stages.schedulerName,
      failure: { kind: "rejected", rejectors, pending: diagnosis.pending },
      message: whole,
      nominate,
      isExplained: true,
    });
  };
  const startedMs = parts.clock.monotonic();
  const outcome = postFilter(parts, attempt.evaluator, filtered, diagnosis.counts);
  if (isPending(outcome)) return outcome.then(finish);
  finish(outcome);
  return undefined;
}

/** After a rejection by reserve or permit. */
function reject(parts: Parts, attempt: Attempt, rejection: Rejection): void {
  const { plugin, kind } = rejection;
  handleFailure(parts, {
    ...attempt,
    schedulerName: attempt.evaluator.stages.schedulerName,
    failure: { kind: "rejected", rejectors: new Set([plugin]), pending: new Set(kind === "pending" ? [plugin] : []) },
    message: oneNodeText(rejection),
    nominate: "",
  });
}

function fail(parts: Parts, attempt: Attempt, message: string): void {
  const { schedulerName } = attempt.evaluator.stages;
  handleFailure(parts, { ...attempt, schedulerName, failure: { kind: "error" }, message, nominate: "" });
}
