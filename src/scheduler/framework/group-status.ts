/**
 * Conditions of PodGroups, which the scheduler writes.
 *
 * 1. One that is True stays: Pods that a group gets later may fail without it.
 */
import { isStatusError, type JsonObject, optional } from "#api";
import type { Clock } from "#base";
import type { Client } from "#client";
import type { Group, PodGroup } from "./group.ts";

type Conditions = NonNullable<NonNullable<PodGroup["status"]>["conditions"]>;
export type GroupCondition = Pick<Conditions[number], "type" | "status" | "reason" | "message">;

export interface GroupWriter {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  runInBackground(what: string, work: () => Promise<void>): void;
}

export function publishCondition(
  { client, clock, signal, runInBackground }: GroupWriter,
  { object, key, namespace, name }: Pick<Group, "object" | "key" | "namespace" | "name">,
  told: GroupCondition,
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
  { metadata, status }: Pick<PodGroup, "metadata" | "status">,
  told: GroupCondition,
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
