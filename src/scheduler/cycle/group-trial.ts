/**
 * Tries to place the Pods of a group one after the other, each on the state that those before it leave behind.
 *
 * 1. Pods that fit are held on their nodes until the trial is committed or unwound; nobody else is tried meanwhile.
 * 2. A trial ends early once too few Pods are left to reach the count.
 */
import type { Filtered } from "../evaluation/index.ts";
import type { NodeSubset } from "../framework/index.ts";
import type { QueuedPod } from "../queue/index.ts";
import { EXTENDER } from "../queue/index.ts";
import { type Attempt, enoughOf, hold, newAttempt, nominatedOf, observePoint, pickNode } from "./attempt.ts";
import { type Placement, unreserve } from "./binding.ts";
import { type Diagnosis, diagnose, diagnoseRefusal, NO_NODES } from "./diagnosis.ts";
import { type Explanation, explain } from "./explanations.ts";
import { askExtenders, extenderScores } from "./extended.ts";
import type { Parts } from "./parts.ts";

export interface HeldPod {
  readonly attempt: Attempt;
  readonly placement: Placement;
  readonly decidedMs: number;
  readonly explained: { readonly explanation: Explanation; readonly cells: number };
}

/** Why a Pod of the group does not fit. */
export type Misfit = Pick<Diagnosis, "message" | "rejectors" | "pending"> & {
  readonly attempt: Attempt;
  readonly explained?: { readonly explanation: Explanation; readonly cells: number } | undefined;
};

export interface GroupTrial {
  readonly within: NodeSubset | undefined;
  readonly held: readonly HeldPod[];
  readonly misfits: readonly Misfit[];
  /** Not tried: the group had failed already. */
  readonly left: readonly QueuedPod[];
  /** Something failed that is not a verdict. */
  readonly fault?: { readonly pod: QueuedPod; readonly message: string } | undefined;
}

export interface TrialOf {
  readonly members: readonly QueuedPod[];
  /** How many of them have to fit. */
  readonly wanted: number;
  readonly within?: NodeSubset | undefined;
}

/** Asynchronous only where extenders are asked. The caller commits or unwinds it. */
export async function tryMembers(parts: Parts, wanted: TrialOf): Promise<GroupTrial> {
  const steps = trialOf(parts, wanted);
  for (let step = steps.next(); ; ) {
    if (step.done === true) return step.value;
    const attempt = step.value;
    const tried = isAsync(parts, attempt.queued)
      ? await askedOne(parts, attempt, wanted.within)
      : tryOne(parts, attempt, wanted.within);
    step = steps.next(tried);
  }
}

/** The same without extenders. */
export function tryNow(parts: Parts, wanted: TrialOf): GroupTrial {
  const steps = trialOf(parts, wanted);
  for (let step = steps.next(); ; ) {
    if (step.done === true) return step.value;
    step = steps.next(tryOne(parts, step.value, wanted.within));
  }
}

/** Yields each attempt, and is told how it went. */
function* trialOf(parts: Parts, { members, wanted, within }: TrialOf): Generator<Attempt, GroupTrial, Tried> {
  const held: HeldPod[] = [];
  const misfits: Misfit[] = [];
  for (const [at, queued] of members.entries()) {
    if (held.length + members.length - at < wanted) return { within, held, misfits, left: members.slice(at) };
    const evaluator = parts.evaluators.get(queued.pod.pod.spec?.schedulerName ?? "");
    if (evaluator === undefined) throw new Error(`no profile schedules the pod ${queued.pod.key}`);
    const tried = yield newAttempt(parts, queued, evaluator);
    if ("fault" in tried) return { within, held, misfits, left: members.slice(at), fault: tried.fault };
    if ("placement" in tried) held.push(tried);
    else misfits.push(tried);
  }
  return { within, held, misfits, left: [] };
}

/** Releases what the trial holds. */
export function unwind(parts: Parts, { held }: GroupTrial): void {
  for (const { placement } of held.toReversed()) unreserve(parts, placement);
}

type Tried = HeldPod | Misfit | { readonly fault: NonNullable<GroupTrial["fault"]> };

function isAsync({ extenders }: Parts, { pod }: QueuedPod): boolean {
  return extenders.some((extender) => extender.isInterested(pod));
}

function tryOne(parts: Parts, attempt: Attempt, within: NodeSubset | undefined): Tried {
  const filtered = filter(parts, attempt, within);
  return filtered === undefined ? nowhere(attempt) : decide(parts, attempt, filtered);
}

async function askedOne(parts: Parts, attempt: Attempt, within: NodeSubset | undefined): Promise<Tried> {
  const filtered = filter(parts, attempt, within);
  if (filtered === undefined) return nowhere(attempt);
  const rejectsAny = filtered.count > 0 && (await askExtenders(parts, filtered));
  if (filtered.count < 2) return decide(parts, attempt, filtered, rejectsAny);
  const scored = await extenderScores(parts, filtered, attempt.evaluator.score(filtered));
  return decide(parts, attempt, filtered, rejectsAny, scored);
}

/** Undefined: there are no nodes. */
function filter(parts: Parts, attempt: Attempt, within: NodeSubset | undefined): Filtered | undefined {
  const { evaluator, queued } = attempt;
  if (parts.state.nodeCount === 0) return undefined;
  const options = { nominated: nominatedOf(parts, queued.pod), enough: enoughOf(parts, evaluator), within };
  const filtered = evaluator.filter(queued.pod, options);
  parts.metrics.evaluationsOf(evaluator.stages).filtered(filtered);
  attempt.filteredMs = parts.clock.monotonic();
  observePoint(parts, attempt, "Filter", attempt.filteredMs - attempt.startedMs);
  return filtered;
}

function nowhere(attempt: Attempt): Misfit {
  return { attempt, message: NO_NODES, rejectors: new Set(["NodeName"]), pending: new Set() };
}

function decide(
  parts: Parts,
  attempt: Attempt,
  filtered: Filtered,
  byExtenders = false,
  given?: Parameters<typeof pickNode>[3],
): Tried {
  const { state, clock } = parts;
  const { queued } = attempt;
  const about = { atMs: clock.now(), attempt: queued.attempts, filtered };
  if (filtered.count === 0) {
    const { message, rejectors, pending, counts } = diagnose(filtered, state);
    const outcome = { kind: "unschedulable", message } as const;
    return {
      attempt,
      message,
      rejectors: byExtenders ? new Set([...rejectors, EXTENDER]) : rejectors,
      pending,
      explained: explain(state, { ...about, outcome, counted: counts }),
    };
  }
  const { node, scored } = pickNode(parts, attempt, filtered, given);
  const outcome = { kind: "scheduled", node: node.name } as const;
  const explained = explain(state, { ...about, outcome, ...(scored && { scored: { scored, chosen: node.index } }) });
  const decidedMs = clock.monotonic();
  const held = hold(parts, attempt, filtered, node);
  if (held.kind === "failed") return { fault: { pod: queued, message: held.message } };
  if (held.kind === "refused") return { attempt, ...diagnoseRefusal(held.rejection) };
  return { attempt, placement: held.placement, decidedMs, explained };
}
