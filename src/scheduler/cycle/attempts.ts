/**
 * An attempt: from a pod in the queue to a node that it is assumed to be on, or to a reason why there is none.
 *
 * 1. Synchronous, unless extenders are asked or a postFilter waits.
 * 2. Whatever happens, the pod is bound, back in the queue, or no longer this scheduler's: it is never lost.
 */
import { isAbort } from "#base";
import {
  best,
  type Evaluator,
  type Filtered,
  isRejection,
  type PodInfo,
  type Rejection,
  type Scored,
  type Waiting,
} from "../framework/index.ts";
import { EXTENDER, type QueuedPod } from "../queue/index.ts";
import { bindPod, type Placement, stateOf } from "./binding.ts";
import { diagnose, NO_NODES, rejectedAlone } from "./diagnosis.ts";
import { type Explained, type Explanation, explain } from "./explanations.ts";
import { askExtenders, extenderScores } from "./extended.ts";
import { handleFailure, messageOf } from "./failures.ts";
import type { Parts } from "./parts.ts";
import { postFilter } from "./post-filter.ts";

/** The original's least number of nodes to find, and least share. */
const LEAST_NODES = 100;
const LEAST_PERCENT = 5;

interface Attempt {
  readonly queued: QueuedPod;
  readonly evaluator: Evaluator;
  readonly startedMs: number;
}

export function tryPod(parts: Parts, queued: QueuedPod): Promise<void> | undefined {
  const { pod } = queued;
  const evaluator = parts.evaluators.get(pod.pod.spec?.schedulerName ?? "");
  if (evaluator === undefined || pod.terminating || parts.state.placeOf(pod.uid) !== undefined) {
    if (evaluator !== undefined && pod.terminating) tellSkipped(parts, evaluator, pod);
    parts.queue.done(pod.uid);
    return undefined;
  }
  const attempt = { queued, evaluator, startedMs: parts.clock.monotonic() };
  const onError = (error: unknown) => {
    if (isAbort(error, parts.signal)) return;
    parts.log.error("an attempt to schedule failed", { pod: pod.key, error });
    fail(parts, attempt, undefined, messageOf(error));
  };
  try {
    return place(parts, attempt)?.catch(onError);
  } catch (error) {
    onError(error);
    return undefined;
  }
}

function tellSkipped({ events }: Parts, { stages }: Evaluator, { pod, namespace, name }: PodInfo): void {
  events(stages.schedulerName).record({
    about: pod,
    type: "Warning",
    reason: "FailedScheduling",
    action: "Scheduling",
    note: `skip schedule deleting pod: ${namespace}/${name}`,
  });
}

function place(parts: Parts, attempt: Attempt): Promise<void> | undefined {
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
  const nominated = state.nominationOf(pod.uid) ?? pod.pod.status?.nominatedNodeName;
  const filtered = evaluator.filter(pod, {
    nominated: nominated === "" ? undefined : nominated,
    enough: enoughOf(parts, evaluator),
  });
  const asked = extenders.filter((extender) => extender.isInterested(pod));
  if (asked.length > 0 && filtered.count > 0) return placeExtended(parts, attempt, filtered);
  return filtered.count === 0 ? rejectPod(parts, attempt, filtered) : choose(parts, attempt, filtered);
}

async function placeExtended(parts: Parts, attempt: Attempt, filtered: Filtered): Promise<void> {
  const rejections = await askExtenders(parts, filtered);
  if (filtered.count === 0) return rejectPod(parts, attempt, filtered, rejections);
  const scored = await extenderScores(parts, filtered, attempt.evaluator.score(filtered));
  choose(parts, attempt, filtered, scored);
}

function choose(parts: Parts, attempt: Attempt, filtered: Filtered, given?: Scored): undefined {
  const { state, random, metrics, clock } = parts;
  const { queued, evaluator, startedMs } = attempt;
  const { stages } = evaluator;
  const scored = given ?? (filtered.count === 1 ? undefined : evaluator.score(filtered));
  const index = scored === undefined ? (filtered.indexes[0] ?? -1) : best(scored, random);
  const node = state.nodes[index];
  if (node === undefined) throw new Error("the node that was chosen is gone");
  metrics.algorithmSeconds.labels().observe((clock.monotonic() - startedMs) / 1000);
  const outcome = { kind: "scheduled", node: node.name } as const;
  note(parts, attempt, filtered, outcome, scored && { scored: { scored, chosen: index } });
  const { pod } = queued;
  state.assume(pod, node.name);
  state.denominate(pod.uid);
  const waits = new Map<string, number>();
  const placement: Placement = { queued, stages, filtered, node: node.name, startedMs, waits };
  const refused = reserve(placement, node) ?? permit(placement, waits);
  if (refused !== undefined) {
    for (const plugin of stages.reserve.toReversed()) plugin.unreserve?.(stateOf(placement, plugin), pod, node.name);
    state.forget(pod.uid);
    reject(parts, attempt, refused);
    return undefined;
  }
  parts.beside(`binding ${pod.key}`, () => bindPod(parts, placement));
  return undefined;
}

function reserve(placement: Placement, node: Parameters<NonNullable<Evaluator["stages"]["reserve"][0]["reserve"]>>[2]) {
  for (const plugin of placement.stages.reserve) {
    const verdict = plugin.reserve?.(stateOf(placement, plugin), placement.queued.pod, node);
    if (verdict !== undefined && isRejection(verdict)) return verdict;
  }
  return undefined;
}

function permit(placement: Placement, waits: Map<string, number>): Rejection | undefined {
  for (const plugin of placement.stages.permit) {
    const verdict = plugin.permit?.(stateOf(placement, plugin), placement.queued.pod, placement.node);
    if (verdict === undefined) continue;
    if (isWaiting(verdict)) waits.set(plugin.name, verdict.timeoutMs);
    else if (isRejection(verdict)) return verdict;
  }
  return undefined;
}

function isWaiting(verdict: { readonly kind: string }): verdict is Waiting {
  return verdict.kind === "wait";
}

function rejectPod(
  parts: Parts,
  attempt: Attempt,
  filtered: Filtered,
  extended: ReadonlyMap<string, Rejection> = new Map(),
): Promise<void> | undefined {
  const diagnosis = diagnose(filtered, parts.state);
  // An extender may have rejected some since.
  const counted = extended.size > 0 ? undefined : diagnosis.counts;
  const rejectors = extended.size > 0 ? new Set([...diagnosis.rejectors, EXTENDER]) : diagnosis.rejectors;
  const finish = ({ message, nominate }: { readonly message: string; readonly nominate: string | undefined }) => {
    const whole = message === "" ? diagnosis.message : `${diagnosis.message} ${message}`;
    const nominated = nominate === undefined || nominate === "" ? {} : { nominated: nominate };
    note(parts, attempt, filtered, { kind: "unschedulable", message: whole, ...nominated }, { counted });
    handleFailure(parts, {
      ...attempt,
      schedulerName: attempt.evaluator.stages.schedulerName,
      failure: { kind: "rejected", rejectors, pending: diagnosis.pending },
      message: whole,
      nominate,
    });
  };
  const outcome = postFilter(parts, attempt.evaluator, filtered, diagnosis.counts);
  if (outcome instanceof Promise) return outcome.then(finish);
  finish(outcome);
  return undefined;
}

/** By reserve or permit. */
function reject(parts: Parts, attempt: Attempt, rejection: Rejection): void {
  const { plugin, kind } = rejection;
  handleFailure(parts, {
    ...attempt,
    schedulerName: attempt.evaluator.stages.schedulerName,
    failure: { kind: "rejected", rejectors: new Set([plugin]), pending: new Set(kind === "pending" ? [plugin] : []) },
    message: rejectedAlone(rejection),
    nominate: "",
  });
}

function fail(parts: Parts, attempt: Attempt, filtered: Filtered | undefined, message: string): void {
  if (filtered !== undefined) note(parts, attempt, filtered, { kind: "error", message });
  const { schedulerName } = attempt.evaluator.stages;
  handleFailure(parts, { ...attempt, schedulerName, failure: { kind: "error" }, message, nominate: "" });
}

function note(
  { state, explanations, clock }: Parts,
  { queued }: Attempt,
  filtered: Filtered,
  outcome: Explanation["outcome"],
  known: Pick<Explained, "scored" | "counted"> = {},
): void {
  const about = { atMs: clock.now(), attempt: queued.attempts, outcome, filtered, ...known };
  const { explanation, cells } = explain(state, explanations, about);
  explanations.add(queued.pod.uid, explanation, cells);
}

/** Undefined: look at all nodes. */
function enoughOf({ state, percentageOfNodesToScore }: Parts, { stages }: Evaluator): number | undefined {
  const percentage = stages.percentageOfNodesToScore ?? percentageOfNodesToScore;
  const { nodeCount } = state;
  if (percentage === undefined || percentage >= 100 || nodeCount < LEAST_NODES) return undefined;
  const share = percentage > 0 ? percentage : Math.max(LEAST_PERCENT, 50 - Math.trunc(nodeCount / 125));
  return Math.max(LEAST_NODES, Math.trunc((nodeCount * share) / 100));
}
