/** What a driver answered, checked: a driver is another program, and may answer anything. */
import type { Int64 } from "#api";
import { isGrpcError } from "#grpc";
import type { CsiReceived } from "../../csi/index.ts";

export interface SnapshotAnswer {
  readonly handle: string;
  /** Nanoseconds since 1970; undefined if the driver gave none. */
  readonly createdNanos: Int64 | undefined;
  /** Undefined if the driver does not know it. */
  readonly sizeBytes: Int64 | undefined;
  readonly isReady: boolean;
  readonly groupHandle: string | undefined;
}

/** An answer that breaks the protocol. Whether the driver did the work is unknown. */
export class BadAnswerError extends Error {
  override readonly name = "BadAnswerError";
}

type Snapshot = CsiReceived<"Snapshot">;

/** `expected`: what the answer is about; absent fields of the answer are accepted for old drivers. */
export function snapshotAnswer(
  snapshot: Snapshot | null,
  expected: { readonly volumeHandle?: string; readonly handle?: string },
): SnapshotAnswer {
  if (snapshot === null) throw new BadAnswerError("the driver's answer has no snapshot");
  const { snapshotId, sourceVolumeId, creationTime, sizeBytes, readyToUse, groupSnapshotId } = snapshot;
  if (snapshotId === "") throw new BadAnswerError("the driver's answer has no snapshot id");
  if (expected.handle !== undefined && snapshotId !== expected.handle)
    throw new BadAnswerError(`the driver answered about the snapshot ${snapshotId} instead of ${expected.handle}`);
  if (expected.volumeHandle !== undefined && sourceVolumeId !== "" && sourceVolumeId !== expected.volumeHandle)
    throw new BadAnswerError(
      `the driver's snapshot ${snapshotId} is of the volume ${sourceVolumeId} instead of ${expected.volumeHandle}`,
    );
  const size = BigInt(sizeBytes);
  return {
    handle: snapshotId,
    createdNanos: nanosOf(creationTime),
    sizeBytes: size > 0n ? int64(size) : undefined,
    isReady: readyToUse,
    groupHandle: groupSnapshotId === "" ? undefined : groupSnapshotId,
  };
}

export function nanosOf(time: CsiReceived<"google.protobuf.Timestamp"> | null): Int64 | undefined {
  if (time === null) return undefined;
  const nanos = BigInt(time.seconds) * 1_000_000_000n + BigInt(time.nanos);
  if (nanos === 0n) return undefined;
  if (nanos < 0n || nanos > MAX_INT64) throw new BadAnswerError("the driver's creation time is out of range");
  return int64(nanos);
}

const MAX_INT64 = 2n ** 63n - 1n;

function int64(value: bigint): Int64 {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

/** Milliseconds, as a Clock's, in nanoseconds. */
export function nanosOfMs(ms: number): Int64 {
  return int64(BigInt(Math.trunc(ms)) * 1_000_000n);
}

/** After these the driver may still be at work, as gRPC and CSI define them. All other codes are final. */
const UNFINISHED = ["CANCELLED", "DEADLINE_EXCEEDED", "UNAVAILABLE", "RESOURCE_EXHAUSTED", "ABORTED"] as const;

/** The driver has refused: for sure, nothing is under way. */
export function isFinal(error: unknown): boolean {
  return isGrpcError(error) && !isGrpcError(error, ...UNFINISHED);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
