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
import { best, type Evaluator, type Filtered, type FilterOptions, type Scored } from "../evaluation/index.ts";
import { isRejection, oneNodeText, type PodInfo, type Rejection, type Waiting } from "../framework/index.ts";
import { EXTENDER, type QueuedPod } from "../queue/index.ts";
import { type Placement, stateOf, unreserve } from "./binding.ts";
import { diagnose, NO_NODES } from "./diagnosis.ts";
import { type Explained, type Explanation, explain } from "./explanations.ts";
import { askExtenders, extenderScores } from "./extended.ts";
import { handleFailure, messageOf, type Step } from "./failures.ts";
import { counted } from "./metrics.ts";
import type { Parts } from "./parts.ts";
import { postFilter } from "./post-filter.ts";
import { tracedBinding } from "./traced-binding.ts";

const PODS_PER_TURN = 16;
/** minFeasibleNodesToFind and minFeasibleNodesPercentageToFind of kube-scheduler. */
const LEAST_NODES = 100;
const LEAST_PERCENT = 5;
/** The longest time that a permit plugin can keep a pod waiting. */
const LONGEST_PERMIT_MS = 15 * 60_000;

interface Attempt {
  readonly queued: QueuedPod;
  readonly evaluator: Evaluator;
  readonly startedMs: number;
  /** When filtering was done. */
  filteredMs: number;
}

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
    await tryPod(parts, queued);
    const full = room();
    if (full !== undefined) await abortable(full, signal);
    turn += 1;
    if (turn % PODS_PER_TURN === 0) await nextTurn();
  }
}

function tryPod(parts: Parts, queued: QueuedPod): Promise<void> | undefined {
  const { pod } = queued;
  const evaluator = parts.evaluators.get(pod.pod.spec?.schedulerName ?? "");
  if (evaluator === undefined || pod.terminating || parts.state.placeOf(pod.uid) !== undefined) {
    if (evaluator !== undefined && pod.terminating) reportSkipped(parts, evaluator, pod);
    parts.queue.done(pod.uid);
    return undefined;
  }
  const startedMs = parts.clock.monotonic();
  const attempt = { queued, evaluator, startedMs, filteredMs: startedMs };
  const onError = (error: unknown) => {
    if (isAbort(error, parts.signal)) return;
    parts.log.error("an attempt to schedule failed", { pod: pod.key, error });
    observeAlgorithm(parts, attempt);
    fail(parts, attempt, messageOf(error));
  };
  try {
    return place(parts, attempt)?.catch(onError);
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
  const options = {
    nominated: nominated === "" ? undefined : nominated,
    enough: enoughOf(parts, evaluator),
  };
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
  const { state, random, metrics, clock } = parts;
  const { queued, evaluator, startedMs } = attempt;
  const { stages } = evaluator;
  const scored = given ?? (filtered.count === 1 ? undefined : evaluator.score(filtered));
  if (scored !== undefined) metrics.evaluationsOf(stages).scored(scored);
  const index = scored === undefined ? (filtered.indexes[0] ?? -1) : best(scored, random);
  const node = state.nodes[index];
  if (node === undefined) throw new Error("the chosen node does not exist any more");
  const decidedMs = clock.monotonic();
  if (given === undefined && scored !== undefined)
    observePoint(parts, attempt, "Score", decidedMs - attempt.filteredMs);
  metrics.algorithmSeconds.labels().observe((decidedMs - startedMs) / 1000);
  const outcome = { kind: "scheduled", node: node.name } as const;
  note(parts, attempt, filtered, outcome, scored && { scored: { scored, chosen: index } });
  const { pod } = queued;
  state.assume(pod, node.name);
  state.removeNomination(pod.uid);
  const waits = new Map<string, number>();
  const placement: Placement = { queued, stages, filtered, node: node.name, startedMs, waits };
  let refused: Rejection | undefined;
  const step: Step = { point: "", plugin: "" };
  try {
    refused = reserve(placement, node, step) ?? permit(placement, waits, step);
  } catch (error) {
    unreserve(parts, placement);
    parts.log.error("a node could not be reserved", { pod: pod.key, node: node.name, error });
    fail(parts, attempt, messageOf(error, step));
    return undefined;
  }
  if (refused !== undefined) {
    unreserve(parts, placement);
    reject(parts, attempt, refused);
    return undefined;
  }
  parts.runInBackground(`binding ${pod.key}`, () =>
    counted(metrics.underWay.binding, () => tracedBinding(parts, attempt, placement, decidedMs)),
  );
  return undefined;
}

function observePoint({ metrics }: Parts, { evaluator }: Attempt, point: string, ms: number, status = "Success"): void {
  metrics.pointSeconds.labels(point, status, evaluator.stages.schedulerName).observe(ms / 1000);
}

function reserve(
  placement: Placement,
  node: Parameters<NonNullable<Evaluator["stages"]["reserve"][0]["reserve"]>>[2],
  step: Step,
): Rejection | undefined {
  for (const plugin of placement.stages.reserve) {
    step.point = "Reserve";
    step.plugin = plugin.name;
    const verdict = plugin.reserve?.(stateOf(placement, plugin), placement.queued.pod, node);
    if (verdict !== undefined && isRejection(verdict)) return verdict;
  }
  return undefined;
}

function permit(placement: Placement, waits: Map<string, number>, step: Step): Rejection | undefined {
  for (const plugin of placement.stages.permit) {
    step.point = "Permit";
    step.plugin = plugin.name;
    const verdict = plugin.permit?.(stateOf(placement, plugin), placement.queued.pod, placement.node);
    if (verdict === undefined) continue;
    if (isWaiting(verdict)) waits.set(plugin.name, Math.min(verdict.timeoutMs, LONGEST_PERMIT_MS));
    else if (isRejection(verdict)) return verdict;
  }
  return undefined;
}

function isWaiting(verdict: { readonly kind: string }): verdict is Waiting {
  return verdict.kind === "wait";
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

function observeAlgorithm({ metrics, clock }: Parts, { startedMs }: Attempt): void {
  metrics.algorithmSeconds.labels().observe((clock.monotonic() - startedMs) / 1000);
}

function note(
  { state, explanations, clock }: Parts,
  { queued }: Attempt,
  filtered: Filtered,
  outcome: Explanation["outcome"],
  known: Pick<Explained, "scored" | "counted"> = {},
): void {
  const about = { atMs: clock.now(), attempt: queued.attempts, outcome, filtered, ...known };
  const { explanation, cells } = explain(state, about);
  explanations.add(queued.pod.uid, explanation, cells);
}

/** Undefined: check all nodes. */
function enoughOf({ state, percentageOfNodesToScore }: Parts, { stages }: Evaluator): number | undefined {
  const percentage = stages.percentageOfNodesToScore ?? percentageOfNodesToScore;
  const { nodeCount } = state;
  if (percentage === undefined || percentage >= 100 || nodeCount < LEAST_NODES) return undefined;
  const share = percentage > 0 ? percentage : Math.max(LEAST_PERCENT, 50 - Math.trunc(nodeCount / 125));
  return Math.max(LEAST_NODES, Math.trunc((nodeCount * share) / 100));
}
