/** From gRPC's errors to RuntimeError. */
import { type GrpcCode, GrpcError } from "#grpc";
import { RuntimeError, type RuntimeErrorCode } from "../runtime/runtime.ts";

const CODES: Readonly<Partial<Record<GrpcCode, RuntimeErrorCode>>> = {
  NOT_FOUND: "NotFound",
  UNAVAILABLE: "Unavailable",
  DEADLINE_EXCEEDED: "DeadlineExceeded",
  ALREADY_EXISTS: "AlreadyExists",
};

/** containerd answers UNKNOWN for some timeouts; only the text shows it. */
const TOO_LATE = /context deadline exceeded|timeout .* exceeded/;

export function failureOf(error: unknown, method: string): RuntimeError {
  if (error instanceof RuntimeError) return error;
  if (!(error instanceof GrpcError))
    return new RuntimeError("Unknown", `${method}: ${String(error)}`, { cause: error });
  const code = CODES[error.code] ?? (TOO_LATE.test(error.details) ? "DeadlineExceeded" : "Unknown");
  return new RuntimeError(code, error.message, { cause: error });
}

/** The runtime does not have this method. */
export function isUnimplemented(error: RuntimeError): boolean {
  return error.cause instanceof GrpcError && error.cause.code === "UNIMPLEMENTED";
}
