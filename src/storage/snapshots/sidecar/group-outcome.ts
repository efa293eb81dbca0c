/** What a driver's answer, or its failure, writes into a VolumeGroupSnapshotContent. */
import { formatTime, instantOf, type Json, type JsonObject } from "#api";
import type { Plan, Write } from "#controllers";
import { groupKinds, type VolumeGroupSnapshotContent } from "../objects/group-kinds.ts";
import { annotations } from "../objects/names.ts";
import { annotated, merged, warning } from "../objects/writes.ts";
import type { GroupAnswer } from "./group-answers.ts";

const { VolumeGroupSnapshotContent: Content } = groupKinds;

/** The handle and the time stay as they were first reported. */
export function groupAnswered(content: VolumeGroupSnapshotContent, answer: GroupAnswer, now: number): Plan {
  const { status = {} } = content;
  const { handle, createdMs = now, isReady, members } = answer;
  const isDynamic = content.spec.source.volumeHandles !== undefined;
  const changes = {
    ...(status.volumeGroupSnapshotHandle === undefined && { volumeGroupSnapshotHandle: handle }),
    ...(status.readyToUse !== isReady && { readyToUse: isReady }),
    ...(isReady && status.error !== undefined && { error: null }),
    ...(status.creationTime === undefined && { creationTime: formatTime(instantOf(createdMs)) }),
    ...(isDynamic && { volumeSnapshotInfoList: members as unknown as Json }),
  };
  return { steps: [[statusPatch(content, changes)], unmarking(content)].filter((step) => step.length > 0) };
}

export interface GroupContentFailure {
  readonly reason: "GroupSnapshotCreationFailed" | "GroupSnapshotContentCheckandUpdateFailed";
  readonly message: string;
  readonly isFinal: boolean;
}

/** An Event and the error in the status, unless the status has this error already. */
export function groupRefused(content: VolumeGroupSnapshotContent, failure: GroupContentFailure, now: number): Plan {
  const { reason, message, isFinal } = failure;
  const first = isFinal ? unmarking(content) : [];
  if (content.status?.error?.message === message) return { steps: first.length > 0 ? [first] : [] };
  const error = { time: formatTime(instantOf(now)), message };
  const last = [statusPatch(content, { readyToUse: false, error })];
  return { steps: first.length > 0 ? [first, last] : [last], events: [warning(content, reason, message)] };
}

/** The group is gone: the finalizer may go with the next look at the content. */
export function groupDeleted(content: VolumeGroupSnapshotContent): Plan {
  const gone = { volumeGroupSnapshotHandle: null, readyToUse: null, creationTime: null, error: null };
  return { steps: [[statusPatch(content, gone)]] };
}

function unmarking(content: VolumeGroupSnapshotContent): readonly Write[] {
  if (content.metadata.annotations?.[annotations.groupBeingCreated] === undefined) return [];
  return [annotated(Content, content, { [annotations.groupBeingCreated]: null })];
}

function statusPatch(content: VolumeGroupSnapshotContent, status: object): Write {
  return { ...merged(Content, content, { status: status as JsonObject }), subresource: "status" } as Write;
}
