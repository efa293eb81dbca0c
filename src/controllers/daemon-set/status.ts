/** The status of a DaemonSet: the oldest Pod of each node counts. */
import { type apps, equalJson, type Int64, type Json } from "#api";
import { isAvailable, isReady } from "../pods/index.ts";
import { type DaemonSet, isUpdated, nameOf } from "./daemon-pod.ts";
import type { Facts } from "./place.ts";

export type Status = apps.DaemonSetStatus;

export function statusOf({ set, hash, nodes, byNode, fitOf, now }: Facts): Status {
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 };
  for (const node of nodes) {
    const [oldest] = byNode.get(nameOf(node)) ?? [];
    if (!fitOf(node).runs) {
      if (oldest !== undefined) counts.misscheduled += 1;
      continue;
    }
    counts.desired += 1;
    if (oldest === undefined) continue;
    counts.current += 1;
    if (isReady(oldest)) counts.ready += 1;
    if (isAvailable(oldest, set.spec?.minReadySeconds ?? 0, now)) counts.available += 1;
    if (isUpdated(set, oldest, hash)) counts.updated += 1;
  }
  const { collisionCount, conditions } = set.status ?? {};
  return {
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: counts.desired,
    numberReady: counts.ready,
    ...written({
      observedGeneration: set.metadata.generation ?? 0,
      updatedNumberScheduled: counts.updated,
      numberAvailable: counts.available,
      numberUnavailable: counts.desired - counts.available,
    }),
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions && { conditions }),
  };
}

/** Like the API server writes it: counts of zero are omitted. */
function written(counts: Readonly<Record<string, Int64>>): Partial<Status> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

export function sameStatus(a: Status, { status }: DaemonSet): boolean {
  return equalJson(a as unknown as Json, (status ?? {}) as unknown as Json);
}
