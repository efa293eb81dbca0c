/** What a driver's answer, or its failure, writes into a VolumeSnapshotContent. */
import { formatTime, instantOf, type JsonObject } from "#api";
import type { Plan, Write } from "#controllers";
import { snapshotKinds, type VolumeSnapshotContent } from "../objects/kinds.ts";
import { annotations } from "../objects/names.ts";
import { annotated, merged, warning } from "../objects/writes.ts";
import { nanosOfMs, type SnapshotAnswer } from "./answers.ts";

const { VolumeSnapshotContent: Content } = snapshotKinds;

/** The handle, the time and the size stay as they were first reported. */
export function answered(content: VolumeSnapshotContent, answer: SnapshotAnswer, now: number): Plan {
  const { status = {}, metadata } = content;
  const { handle, createdNanos = nanosOfMs(now), sizeBytes, isReady, groupHandle } = answer;
  const changes = {
    ...(status.snapshotHandle === undefined && { snapshotHandle: handle }),
    ...(status.readyToUse !== isReady && { readyToUse: isReady }),
    ...(isReady && status.error !== undefined && { error: null }),
    ...(status.creationTime === undefined && { creationTime: createdNanos }),
    ...(status.restoreSize === undefined && sizeBytes !== undefined && { restoreSize: sizeBytes }),
    ...(status.volumeGroupSnapshotHandle === undefined &&
      groupHandle !== undefined && { volumeGroupSnapshotHandle: groupHandle }),
  };
  const isMarked = metadata.annotations?.[annotations.beingCreated] !== undefined;
  return {
    steps: [
      Object.keys(changes).length === 0 ? [] : [statusPatch(content, changes)],
      isMarked ? [annotated(Content, content, { [annotations.beingCreated]: null })] : [],
    ].filter((step) => step.length > 0),
  };
}

export interface ContentFailure {
  readonly reason: "SnapshotCreationFailed" | "SnapshotContentCheckandUpdateFailed";
  readonly message: string;
  /** The driver has refused for good: there is nothing under way. */
  readonly isFinal: boolean;
}

/** An Event and the error in the status, unless the status has this error already. */
export function refused(content: VolumeSnapshotContent, failure: ContentFailure, now: number): Plan {
  const { reason, message, isFinal } = failure;
  const isMarked = content.metadata.annotations?.[annotations.beingCreated] !== undefined;
  const unmark: Write[] =
    isFinal && isMarked ? [annotated(Content, content, { [annotations.beingCreated]: null })] : [];
  if (content.status?.error?.message === message) return { steps: unmark.length > 0 ? [unmark] : [] };
  const error = { time: formatTime(instantOf(now)), message };
  return {
    steps: [...(unmark.length > 0 ? [unmark] : []), [statusPatch(content, { readyToUse: false, error })]],
    events: [warning(content, reason, message)],
  };
}

/** The snapshot is gone: the finalizer may go with the next look at the content. */
export function deleted(content: VolumeSnapshotContent): Plan {
  const gone = { snapshotHandle: null, readyToUse: null, creationTime: null, restoreSize: null };
  return { steps: [[statusPatch(content, gone)]] };
}

function statusPatch(content: VolumeSnapshotContent, status: object): Write {
  return { ...merged(Content, content, { status: status as JsonObject }), subresource: "status" } as Write;
}
