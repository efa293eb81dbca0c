/** Which gRPC codes mean that the operation is not running any more: a retry may then ask for something else. */
import { type GrpcCode, isGrpcError } from "#grpc";

const UNDECIDED: readonly GrpcCode[] = [
  "CANCELLED",
  "DEADLINE_EXCEEDED",
  "UNAVAILABLE",
  "RESOURCE_EXHAUSTED",
  "ABORTED",
];

/** An error that did not come from the driver says nothing about it. */
export function isFinal(error: unknown): boolean {
  return isGrpcError(error) && !UNDECIDED.includes(error.code);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
