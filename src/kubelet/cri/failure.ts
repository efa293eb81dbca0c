/** From gRPC status codes to RuntimeError. */
import { type ServiceError, status } from "@grpc/grpc-js";
import { RuntimeError, type RuntimeErrorCode } from "../runtime/runtime.ts";

const CODES: Readonly<Record<number, RuntimeErrorCode>> = {
  [status.NOT_FOUND]: "NotFound",
  [status.UNAVAILABLE]: "Unavailable",
  [status.DEADLINE_EXCEEDED]: "DeadlineExceeded",
  [status.ALREADY_EXISTS]: "AlreadyExists",
};

/** containerd answers UNKNOWN for some timeouts; only the text shows it. */
const TOO_LATE = /context deadline exceeded|timeout .* exceeded/;

export function failureOf(error: unknown, method: string): RuntimeError {
  if (error instanceof RuntimeError) return error;
  if (!isServiceError(error)) return new RuntimeError("Unknown", `${method}: ${String(error)}`, { cause: error });
  // Users see this text in statuses and events; `rpc error: …` is the form that they know.
  const message = `rpc error: code = ${nameOf(error.code)} desc = ${error.details}`;
  const code = CODES[error.code] ?? (TOO_LATE.test(error.details) ? "DeadlineExceeded" : "Unknown");
  return new RuntimeError(code, message, { cause: error });
}

/** The runtime does not have this method. */
export function isUnimplemented(error: RuntimeError): boolean {
  return isServiceError(error.cause) && error.cause.code === status.UNIMPLEMENTED;
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error && typeof error.details === "string";
}

/** `NOT_FOUND` becomes `NotFound`. */
function nameOf(code: number): string {
  const name = status[code] ?? "UNKNOWN";
  return name
    .split("_")
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join("");
}
