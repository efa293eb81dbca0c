/** The status of a group snapshot: an error, or what its content reports. */
import { equalJson, formatTime, instantOf, type Json } from "#api";
import type { Plan } from "#controllers";
import type { SnapshotFailure } from "../controller/status.ts";
import {
  groupKinds,
  type VolumeGroupSnapshot,
  type VolumeGroupSnapshotContent,
  type VolumeGroupSnapshotStatus,
} from "../objects/group-kinds.ts";
import { isReady, keyOfObject } from "../objects/state.ts";
import { normal, reported, warning, withStatus } from "../objects/writes.ts";

const { VolumeGroupSnapshot: Group } = groupKinds;

export function groupFailure(group: VolumeGroupSnapshot, failed: SnapshotFailure, now: number): Plan | undefined {
  const { reason, message, keepsReady = false } = failed;
  if (group.status?.error?.message === message) return undefined;
  const error = { time: formatTime(instantOf(now)), message };
  const status = { ...group.status, error, ...(!keepsReady && { readyToUse: false }) };
  return { steps: [[withStatus(Group, group, status)]], events: [warning(group, reason, message)] };
}

/** Undefined if the status shows the content already. */
export function groupStatusPlan(group: VolumeGroupSnapshot, content: VolumeGroupSnapshotContent): Plan | undefined {
  const status = groupStatusFrom(group.status, content);
  if (equalJson(status as unknown as Json, (group.status ?? {}) as unknown as Json)) return undefined;
  const key = keyOfObject(group);
  const isNew = group.status?.creationTime === undefined && status.creationTime !== undefined;
  const created = `GroupSnapshot ${key} was successfully created by the CSI driver.`;
  return reported(
    withStatus(Group, group, status),
    ...(isNew ? [normal(group, "GroupSnapshotCreated", created)] : []),
    ...(!isReady(group) && status.readyToUse === true
      ? [normal(group, "GroupSnapshotReady", `GroupSnapshot ${key} is ready to use.`)]
      : []),
  );
}

function groupStatusFrom(
  before: VolumeGroupSnapshotStatus = {},
  { metadata, status = {} }: VolumeGroupSnapshotContent,
): VolumeGroupSnapshotStatus {
  const { boundVolumeGroupSnapshotContentName = metadata.name ?? "" } = before;
  const readyToUse = status.readyToUse ?? false;
  const creationTime = before.creationTime ?? status.creationTime;
  const error = readyToUse ? undefined : status.error;
  return {
    boundVolumeGroupSnapshotContentName,
    readyToUse,
    ...(creationTime !== undefined && { creationTime }),
    ...(error !== undefined && { error }),
  };
}
