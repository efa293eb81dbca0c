/** The status of a snapshot: an error, or what its content reports. */
import { equalJson, formatTime, instantOf, type Json } from "#api";
import type { Plan } from "#controllers";
import {
  snapshotKinds,
  type VolumeSnapshot,
  type VolumeSnapshotContent,
  type VolumeSnapshotStatus,
} from "../objects/kinds.ts";
import { isReady, keyOfObject, sizeText, timeOfNanos } from "../objects/state.ts";
import { normal, reported, warning, withStatus } from "../objects/writes.ts";

const { VolumeSnapshot: Snapshot } = snapshotKinds;

export interface SnapshotFailure {
  readonly reason: string;
  readonly message: string;
  /** A failure that leaves the readiness as it is. */
  readonly keepsReady?: boolean;
}

/** An Event and the error in the status; undefined if the status has this error already. */
export function failure(snapshot: VolumeSnapshot, failed: SnapshotFailure, now: number): Plan | undefined {
  const { reason, message, keepsReady = false } = failed;
  if (snapshot.status?.error?.message === message) return undefined;
  const error = { time: formatTime(instantOf(now)), message };
  const status = { ...snapshot.status, error, ...(!keepsReady && { readyToUse: false }) };
  return { steps: [[withStatus(Snapshot, snapshot, status)]], events: [warning(snapshot, reason, message)] };
}

/** Undefined if the status shows the content already. */
export function statusPlan(
  snapshot: VolumeSnapshot,
  content: VolumeSnapshotContent,
  groupName: string | undefined,
): Plan | undefined {
  const status = statusFrom(snapshot.status, content, groupName);
  if (equalJson(status as unknown as Json, (snapshot.status ?? {}) as unknown as Json)) return undefined;
  const name = keyOfObject(snapshot);
  const isNew = snapshot.status?.creationTime === undefined && status.creationTime !== undefined;
  const becomesReady = !isReady(snapshot) && status.readyToUse === true;
  const created = normal(snapshot, "SnapshotCreated", `Snapshot ${name} was successfully created by the CSI driver.`);
  const ready = normal(snapshot, "SnapshotReady", `Snapshot ${name} is ready to use.`);
  return reported(
    withStatus(Snapshot, snapshot, status),
    ...(isNew ? [created] : []),
    ...(becomesReady ? [ready] : []),
  );
}

/** The time and the size of a snapshot stay as they were first reported. */
export function statusFrom(
  before: VolumeSnapshotStatus = {},
  { metadata, status = {} }: VolumeSnapshotContent,
  groupName: string | undefined,
): VolumeSnapshotStatus {
  const { boundVolumeSnapshotContentName = metadata.name ?? "" } = before;
  const readyToUse = status.readyToUse ?? false;
  const creationTime =
    before.creationTime ?? (status.creationTime === undefined ? undefined : timeOfNanos(status.creationTime));
  const hasSize = before.restoreSize !== undefined && before.restoreSize !== "0";
  const size = status.restoreSize === undefined ? undefined : sizeText(status.restoreSize);
  const restoreSize = hasSize ? before.restoreSize : (size ?? before.restoreSize);
  const error = readyToUse ? undefined : status.error;
  const volumeGroupSnapshotName = before.volumeGroupSnapshotName ?? groupName;
  return {
    boundVolumeSnapshotContentName,
    readyToUse,
    ...(creationTime !== undefined && { creationTime }),
    ...(restoreSize !== undefined && { restoreSize }),
    ...(error !== undefined && { error }),
    ...(volumeGroupSnapshotName !== undefined && { volumeGroupSnapshotName }),
  };
}
