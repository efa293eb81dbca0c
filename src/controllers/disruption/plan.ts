/** The next writes for a budget, and for a Pod whose eviction did not become a deletion. */
import { type core, formatTime, instantOf, kinds } from "#api";
import type { RecordedEvent } from "#client";
import { isEnding, isFinished, type Pod } from "../pods/index.ts";
import type { Plan, Write } from "../runtime/index.ts";
import {
  type Budget,
  type BudgetStatus,
  budgetStatus,
  failedStatus,
  sameStatus,
  stillDisrupted,
} from "./budget-status.ts";
import { selectorText } from "./selector-text.ts";

/** The expected Pods, and those without a known controller; or why they are unknown. */
export type Expected =
  | { readonly ok: true; readonly count: number; readonly unmanaged: readonly string[] }
  | { readonly ok: false; readonly why: string };

/** How long DisruptionTarget may be set without a deletion. */
const STALE_MS = 2 * 60_000;

export function planBudget(budget: Budget, pods: readonly Pod[], expected: Expected, now: number): Plan {
  const time = formatTime(instantOf(now));
  const none: readonly RecordedEvent[] =
    pods.length > 0 ? [] : [{ about: budget, type: "Normal", reason: "NoPods", note: "No matching pods found" }];
  if (!expected.ok) {
    const note = `Failed to calculate the number of expected pods: ${expected.why}`;
    return {
      steps: [statusWrites(budget, failedStatus(budget, expected.why, time))],
      events: [...none, { about: budget, type: "Warning", reason: "CalculateExpectedPodCountFailed", note }],
    };
  }
  const disrupted = stillDisrupted(budget, pods, now);
  const { againAfterMs } = disrupted;
  return {
    steps: [statusWrites(budget, budgetStatus(budget, pods, expected.count, disrupted, time))],
    events: [
      ...none,
      ...(expected.unmanaged.length > 0 ? [unmanaged(budget)] : []),
      ...disrupted.overdue.map((pod) => notDeleted(pod, budget)),
    ],
    againAfterMs,
  };
}

/** For a Pod with several budgets, and for a Pod with a stale DisruptionTarget. */
export function planPod(pod: Pod, budgets: readonly Budget[], now: number): Plan {
  const [first, ...others] = budgets;
  const events = first !== undefined && others.length > 0 ? [severalBudgets(pod, first)] : [];
  const waitMs = staleInMs(pod, now);
  if (waitMs === undefined) return { events };
  if (waitMs > 0) return { events, againAfterMs: waitMs };
  const { generation } = pod.metadata;
  const conditions = pod.status?.conditions?.map(
    (each): core.PodCondition =>
      each.type !== "DisruptionTarget"
        ? each
        : {
            type: each.type,
            status: "False",
            lastTransitionTime: formatTime(instantOf(now)),
            ...(generation !== undefined && { observedGeneration: generation }),
          },
  );
  const object: Pod = { ...pod, status: { ...pod.status, ...(conditions && { conditions }) } };
  return { steps: [[{ verb: "updateStatus", resource: kinds.Pod, object }]], events };
}

/** Undefined: nothing is or will become stale. A kubelet may take long to terminate a Pod that it has marked. */
export function staleInMs(pod: Pod, now: number): number | undefined {
  const mark = pod.status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  if (mark?.status !== "True" || mark.reason === "TerminationByKubelet" || isEnding(pod) || isFinished(pod))
    return undefined;
  const since = mark.lastTransitionTime === undefined ? now : Date.parse(mark.lastTransitionTime);
  return Math.max(0, since + STALE_MS - now);
}

function statusWrites(budget: Budget, status: BudgetStatus): readonly Write[] {
  if (sameStatus(status, budget.status)) return [];
  const object: Budget = { ...budget, status };
  return [{ verb: "updateStatus", resource: kinds.PodDisruptionBudget, object }];
}

function unmanaged(about: Budget): RecordedEvent {
  const note =
    `Pods selected by this PodDisruptionBudget (selector: ${selectorText(about.spec?.selector ?? {})}) were found to be unmanaged. ` +
    "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.';
  return { about, type: "Warning", reason: "UnmanagedPods", note };
}

/** Like Kubernetes, it prints the namespace in the place of the name. */
function notDeleted(about: Pod, { metadata: { namespace = "" } }: Budget): RecordedEvent {
  const note = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
  return { about, type: "Warning", reason: "NotDeleted", note };
}

function severalBudgets(about: Pod, first: Budget): RecordedEvent {
  const { name = "", namespace = "" } = about.metadata;
  const chosen = first.metadata.name ?? "";
  const note = `Pod "${namespace}"/"${name}" matches multiple PodDisruptionBudgets.  Chose "${chosen}" arbitrarily.`;
  return { about, type: "Warning", reason: "MultiplePodDisruptionBudgets", note };
}
