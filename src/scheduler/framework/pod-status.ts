/** Writes what the scheduler owns of a pod's status: conditions and the nominated node. */
import { type core, isStatusError, type JsonObject, kinds } from "#api";
import type { Clock } from "#base";
import type { Client } from "#client";
import type { PodInfo } from "./index.ts";

export interface StatusChange {
  readonly condition?: Pick<core.PodCondition, "type" | "status" | "reason" | "message">;
  /** Empty: removes the nomination. */
  readonly nominatedNodeName?: string | undefined;
}

/** Undefined if nothing would change. */
export function statusPatch(
  { metadata, status }: core.Pod,
  change: StatusChange,
  nowMs: number,
): JsonObject | undefined {
  const { condition, nominatedNodeName } = change;
  const before = condition && status?.conditions?.find(({ type }) => type === condition.type);
  const isSame =
    before !== undefined &&
    before.status === condition?.status &&
    before.reason === condition?.reason &&
    before.message === condition?.message &&
    before.observedGeneration === metadata.generation;
  const patch: JsonObject = {
    ...(condition !== undefined && !isSame && { conditions: [written(metadata, condition, before, nowMs)] }),
    ...(nominatedNodeName !== undefined &&
      nominatedNodeName !== (status?.nominatedNodeName ?? "") && {
        nominatedNodeName: nominatedNodeName === "" ? null : nominatedNodeName,
      }),
  };
  return Object.keys(patch).length === 0 ? undefined : { metadata: { uid: metadata.uid ?? "" }, status: patch };
}

function written(
  { generation }: core.Pod["metadata"],
  condition: NonNullable<StatusChange["condition"]>,
  before: core.PodCondition | undefined,
  nowMs: number,
): JsonObject {
  const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
  return {
    ...condition,
    ...(generation !== undefined && { observedGeneration: generation }),
    lastProbeTime: null,
    lastTransitionTime: since ?? `${new Date(nowMs).toISOString().slice(0, 19)}Z`,
  } as JsonObject;
}

/** Ignores pods that were deleted or replaced. `cause`: for the flow record. */
export async function patchStatus(
  client: Client,
  clock: Clock,
  { pod, namespace, name }: PodInfo,
  change: StatusChange,
  signal: AbortSignal,
  cause?: () => string,
): Promise<void> {
  const patch = statusPatch(pod, change, clock.now());
  if (patch === undefined) return;
  try {
    const status = client.of(kinds.Pod).in(namespace).subresource(name, "status");
    await status.patch({ type: "strategic", object: patch }, { signal, cause: cause?.() });
  } catch (error) {
    // A pod that was bound meanwhile cannot be nominated.
    const isLate = change.nominatedNodeName !== undefined && isStatusError(error) && error.reason === "Invalid";
    if (!isLate && (!isStatusError(error) || !["NotFound", "Conflict"].includes(error.reason))) throw error;
  }
}
