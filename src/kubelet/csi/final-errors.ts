/** Which gRPC codes mean that an operation is not running any more, and has not been done. As upstream. */
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
