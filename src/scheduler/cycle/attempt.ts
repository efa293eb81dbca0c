/** What attempts for one Pod and for a group have in common: holding a node for a Pod, and recording what happened. */
import { best, type Evaluator, type Filtered, type Scored } from "../evaluation/index.ts";
import { isRejection, type NodeInfo, type Rejection, type Waiting } from "../framework/index.ts";
import type { QueuedPod } from "../queue/index.ts";
import { type Placement, stateOf, unreserve } from "./binding.ts";
import { type Explained, type Explanation, explain } from "./explanations.ts";
import { messageOf, type Step } from "./failures.ts";
import { counted } from "./metrics.ts";
import type { Parts } from "./parts.ts";
import { tracedBinding } from "./traced-binding.ts";

/** minFeasibleNodesToFind and minFeasibleNodesPercentageToFind of kube-scheduler. */
const LEAST_NODES = 100;
const LEAST_PERCENT = 5;
/** The longest time that a permit plugin can keep a pod waiting. */
const LONGEST_PERMIT_MS = 15 * 60_000;

export interface Attempt {
  readonly queued: QueuedPod;
  readonly evaluator: Evaluator;
  readonly startedMs: number;
  /** When filtering was done. */
  filteredMs: number;
}

export function newAttempt({ clock }: Parts, queued: QueuedPod, evaluator: Evaluator): Attempt {
  const startedMs = clock.monotonic();
  return { queued, evaluator, startedMs, filteredMs: startedMs };
}

/** The best of the nodes that fit. `given`: scores that are known already. */
export function pickNode(
  { state, random, metrics }: Parts,
  { evaluator }: Attempt,
  filtered: Filtered,
  given?: Scored,
): { readonly node: NodeInfo; readonly scored: Scored | undefined } {
  const scored = given ?? (filtered.count === 1 ? undefined : evaluator.score(filtered));
  if (scored !== undefined) metrics.evaluationsOf(evaluator.stages).scored(scored);
  const index = scored === undefined ? (filtered.indexes[0] ?? -1) : best(scored, random);
  const node = state.nodes[index];
  if (node === undefined) throw new Error("the chosen node does not exist any more");
  return { node, scored };
}

export type Held =
  | { readonly kind: "held"; readonly placement: Placement }
  | { readonly kind: "refused"; readonly rejection: Rejection }
  | { readonly kind: "failed"; readonly message: string };

/** Assumes the Pod on the node, and asks reserve and permit. If one of them refuses, nothing is left behind. */
export function hold(parts: Parts, attempt: Attempt, filtered: Filtered, node: NodeInfo): Held {
  const { queued, evaluator, startedMs } = attempt;
  const waits = new Map<string, number>();
  const placement: Placement = { queued, stages: evaluator.stages, filtered, node: node.name, startedMs, waits };
  return holdAgain(parts, placement, node, waits);
}

/** The same, for a Pod that was released in between; the cluster is as it was. */
export function holdAgain(parts: Parts, placement: Placement, node: NodeInfo, waits = new Map(placement.waits)): Held {
  const { state } = parts;
  const { pod } = placement.queued;
  state.assume(pod, node.name);
  state.removeNomination(pod.uid);
  const step: Step = { point: "", plugin: "" };
  let rejection: Rejection | undefined;
  try {
    rejection = reserve(placement, node, step) ?? permit(placement, waits, step);
  } catch (error) {
    unreserve(parts, placement);
    parts.log.error("a node could not be reserved", { pod: pod.key, node: node.name, error });
    return { kind: "failed", message: messageOf(error, step) };
  }
  if (rejection === undefined) return { kind: "held", placement };
  unreserve(parts, placement);
  return { kind: "refused", rejection };
}

export function beginBinding(parts: Parts, attempt: Attempt, placement: Placement, decidedMs: number): void {
  parts.runInBackground(`binding ${placement.queued.pod.key}`, () =>
    counted(parts.metrics.underWay.binding, () => tracedBinding(parts, attempt, placement, decidedMs)),
  );
}

function reserve(placement: Placement, node: NodeInfo, step: Step): Rejection | undefined {
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

export function observePoint(
  { metrics }: Parts,
  { evaluator }: Attempt,
  point: string,
  ms: number,
  status = "Success",
): void {
  metrics.pointSeconds.labels(point, status, evaluator.stages.schedulerName).observe(ms / 1000);
}

export function observeAlgorithm({ metrics, clock }: Parts, { startedMs }: Attempt): void {
  metrics.algorithmSeconds.labels().observe((clock.monotonic() - startedMs) / 1000);
}

export function note(
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

/** The node that the Pod is nominated to. */
export function nominatedOf({ state }: Parts, { pod, uid }: QueuedPod["pod"]): string | undefined {
  const nominated = state.nominationOf(uid) ?? pod.status?.nominatedNodeName;
  return nominated === "" ? undefined : nominated;
}

/** Undefined: check all nodes. */
export function enoughOf({ state, percentageOfNodesToScore }: Parts, { stages }: Evaluator): number | undefined {
  const percentage = stages.percentageOfNodesToScore ?? percentageOfNodesToScore;
  const { nodeCount } = state;
  if (percentage === undefined || percentage >= 100 || nodeCount < LEAST_NODES) return undefined;
  const share = percentage > 0 ? percentage : Math.max(LEAST_PERCENT, 50 - Math.trunc(nodeCount / 125));
  return Math.max(LEAST_NODES, Math.trunc((nodeCount * share) / 100));
}
