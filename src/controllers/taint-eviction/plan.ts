/**
 * What happens to a Pod on a node with NoExecute taints.
 *
 *     it does not tolerate one of them      set DisruptionTarget, then delete
 *     it tolerates all, one for some time   check again when that time is over
 *     it tolerates all                      it stays; a scheduled deletion is cancelled
 *
 * 1. A wait is never extended: a change from not-ready to unreachable does not restart it.
 * 2. After a restart, a wait counts from the taint's timeAdded.
 */
import { type core, formatTime, instantOf, kinds } from "#api";
import type { RecordedEvent } from "#client";
import type { Pod } from "../pods/index.ts";
import type { Plan } from "../runtime/index.ts";
import { toleranceOf } from "./tolerations.ts";

export type Fate =
  | { readonly kind: "stays" }
  | { readonly kind: "waits"; readonly untilMs: number }
  | { readonly kind: "goes" };

/** `untilMs`: the scheduled time of the deletion, if there is one. */
export function fateOf(pod: Pod, taints: readonly core.Taint[], untilMs: number | undefined, now: number): Fate {
  if (taints.length === 0) return { kind: "stays" };
  const cameMs = Math.min(placedMs(pod) ?? now, now);
  const since = ({ timeAdded }: core.Taint) => Math.max(cameMs, Math.min(timeOf(timeAdded) ?? now, now));
  const tolerance = toleranceOf(pod.spec?.tolerations ?? [], taints, since);
  if (tolerance.kind === "none") return { kind: "goes" };
  if (tolerance.kind === "forever") return { kind: "stays" };
  const until = Math.min(tolerance.ms, untilMs ?? tolerance.ms);
  return until <= now ? { kind: "goes" } : { kind: "waits", untilMs: until };
}

export function planEviction(pod: Pod, now: number): Plan {
  const { generation, uid = "" } = pod.metadata;
  const mark = {
    type: "DisruptionTarget",
    status: "True",
    reason: "DeletionByTaintManager",
    message: "Taint manager: deleting due to NoExecute taint",
    lastTransitionTime: formatTime(instantOf(now)),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
  const patch = { metadata: { uid }, status: { conditions: [mark] } };
  const isMarked = pod.status?.conditions?.some(
    ({ type, status, reason }) => type === mark.type && status === mark.status && reason === mark.reason,
  );
  return {
    steps: [
      isMarked ? [] : [{ verb: "patch", resource: kinds.Pod, object: pod, subresource: "status", patch }],
      [{ verb: "delete", resource: kinds.Pod, object: pod }],
    ],
    eventFor: ({ verb }, { ok }) =>
      verb === "delete" && ok ? evictionEvent(pod, "Marking for deletion Pod") : undefined,
  };
}

export function planCalledOff(pod: Pod): Plan {
  return { events: [evictionEvent(pod, "Cancelling deletion of Pod")] };
}

function evictionEvent(about: Pod, what: string): RecordedEvent {
  const { namespace, name } = about.metadata;
  return { about, type: "Normal", reason: "TaintManagerEviction", note: `${what} ${namespace}/${name}` };
}

/** Since when the Pod is on its node. */
function placedMs({ metadata, status }: Pod): number | undefined {
  const scheduled = status?.conditions?.find(({ type, status }) => type === "PodScheduled" && status === "True");
  return timeOf(scheduled?.lastTransitionTime) ?? timeOf(metadata.creationTimestamp);
}

function timeOf(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
