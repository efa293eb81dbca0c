/** gRPC statuses as errors: what a call failed with, and what a server answers with. */
import { type ServiceError, status } from "@grpc/grpc-js";

/** `NOT_FOUND` and so on: the names of gRPC's status codes. */
export type GrpcCode = Exclude<keyof typeof status, "OK">;

export class GrpcError extends Error {
  override readonly name = "GrpcError";
  readonly code: GrpcCode;
  /** What the server wrote, without the code. */
  readonly details: string;

  constructor(code: GrpcCode, details: string, options?: ErrorOptions) {
    // Users see this text in statuses and events; `rpc error: …` is the form that they know.
    super(`rpc error: code = ${titleOf(code)} desc = ${details}`, options);
    this.code = code;
    this.details = details;
  }
}

export function isGrpcError(error: unknown, ...codes: readonly GrpcCode[]): error is GrpcError {
  return error instanceof GrpcError && (codes.length === 0 || codes.includes(error.code));
}

/** `error` of a call of `path`, or undefined if it has no status. */
export function grpcErrorOf(error: unknown): GrpcError | undefined {
  if (error instanceof GrpcError) return error;
  if (!isServiceError(error)) return undefined;
  return new GrpcError((status[error.code] ?? "UNKNOWN") as GrpcCode, error.details, { cause: error });
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error && typeof error.details === "string";
}

/** `NOT_FOUND` becomes `NotFound`. */
function titleOf(code: GrpcCode): string {
  return code
    .split("_")
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join("");
}
