/** What went wrong with a call to the runtime: from gRPC's codes to what a kubelet can act on. */
import { type ServiceError, status } from "@grpc/grpc-js";
import { RuntimeError, type RuntimeErrorCode } from "../runtime/runtime.ts";

const CODES: Readonly<Record<number, RuntimeErrorCode>> = {
  [status.NOT_FOUND]: "NotFound",
  [status.UNAVAILABLE]: "Unavailable",
  [status.DEADLINE_EXCEEDED]: "DeadlineExceeded",
  [status.ALREADY_EXISTS]: "AlreadyExists",
};

/** containerd answers with UNKNOWN where only the text says that it waited too long. */
const TOO_LATE = /context deadline exceeded|timeout .* exceeded/;

export function failureOf(error: unknown, method: string): RuntimeError {
  if (error instanceof RuntimeError) return error;
  if (!isServiceError(error)) return new RuntimeError("Unknown", `${method}: ${String(error)}`, { cause: error });
  // The kubelet shows these words to users as they are: `rpc error: …` is how they know them.
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

/** `NOT_FOUND` is `NotFound` to those who read it. */
function nameOf(code: number): string {
  const name = status[code] ?? "UNKNOWN";
  return name
    .split("_")
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join("");
}
