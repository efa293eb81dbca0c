/**
 * The condition PodGroupScheduled.
 *
 * 1. Once it is True it stays: Pods that a group gets later may fail without it.
 */
import { isStatusError, type JsonObject, optional, type schedulingV1alpha2 } from "#api";
import type { Group, PodGroup } from "../framework/index.ts";
import type { GroupOutcome } from "./group-cycle.ts";
import type { Parts } from "./parts.ts";

export const SCHEDULED = "PodGroupScheduled";

type Conditions = NonNullable<NonNullable<PodGroup["status"]>["conditions"]>;
type Told = Pick<Conditions[number], "type" | "status" | "reason" | "message">;

const REASONS = { scheduled: "Scheduled", unschedulable: "Unschedulable", error: "SchedulerError" } as const;

export function publishOutcome(parts: Parts, group: Group, outcome: GroupOutcome): void {
  const isScheduled = outcome.kind === "scheduled";
  publishCondition(parts, group, {
    type: SCHEDULED,
    status: isScheduled ? "True" : "False",
    reason: REASONS[outcome.kind],
    message: isScheduled ? "" : outcome.message,
  });
}

export function publishCondition(
  { client, clock, signal, runInBackground }: Pick<Parts, "client" | "clock" | "signal" | "runInBackground">,
  { object, key, namespace, name }: Pick<Group, "object" | "key" | "namespace" | "name">,
  told: Told,
): void {
  const patch = object && conditionPatch(object, told, clock.now());
  if (patch === undefined) return;
  runInBackground(`the status of the pod group ${key}`, async () => {
    try {
      const status = client.of(optional.PodGroup).in(namespace).subresource(name, "status");
      await status.patch({ type: "strategic", object: patch }, { signal });
    } catch (error) {
      // It was deleted or replaced.
      if (!isStatusError(error) || !["NotFound", "Conflict"].includes(error.reason)) throw error;
    }
  });
}

/** Undefined if nothing would change. */
export function conditionPatch(
  { metadata, status }: Pick<schedulingV1alpha2.PodGroup, "metadata" | "status">,
  told: Told,
  nowMs: number,
): JsonObject | undefined {
  const before = status?.conditions?.find(({ type }) => type === told.type);
  if (before?.status === "True" && told.status !== "True") return undefined;
  const observedGeneration = metadata.generation ?? 0;
  const isSame =
    before?.status === told.status &&
    before.reason === told.reason &&
    before.message === told.message &&
    before.observedGeneration === observedGeneration;
  if (isSame) return undefined;
  const now = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
  const lastTransitionTime = before?.status === told.status ? before.lastTransitionTime : now;
  return {
    metadata: { uid: metadata.uid ?? "" },
    status: { conditions: [{ ...told, observedGeneration, lastTransitionTime }] },
  };
}
