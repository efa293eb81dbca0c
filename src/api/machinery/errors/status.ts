/**
 * The one error of the API. Every failure of a request becomes a StatusError, and is turned into HTTP here and nowhere
 * else.
 *
 * 1. A reason has one HTTP code, by the table below; only errors without a reason have a code of their own.
 * 2. `toStatus` writes what Kubernetes writes: `details` is absent, not empty, unless the error has some.
 */
import { isObject, type Json, type JsonObject } from "../json/json.ts";

export const statusCodes = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServerTimeout: 500,
  StoreReadError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

const reasonsOfCodes: ReadonlyMap<number, StatusReason> = new Map([
  [400, "BadRequest"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "NotFound"],
  [405, "MethodNotAllowed"],
  [406, "NotAcceptable"],
  [410, "Gone"],
  [413, "RequestEntityTooLarge"],
  [415, "UnsupportedMediaType"],
  [422, "Invalid"],
  [429, "TooManyRequests"],
  [500, "InternalError"],
  [503, "ServiceUnavailable"],
  [504, "Timeout"],
]);

/** "" is the reason of an unexpected error. */
export type StatusReason = keyof typeof statusCodes | "";

/** Of an answer that is no Status, as client-go reads it: `404 page not found` of a path that is not served. */
export function reasonOfCode(code: number): StatusReason {
  return reasonsOfCodes.get(code) ?? "";
}

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The resource of the request, or the kind of a refused object. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface StatusOptions {
  readonly details?: StatusDetails;
  /** Only for errors without a reason; the others have the code of their reason. */
  readonly code?: number;
  readonly cause?: unknown;
}

export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly reason: StatusReason;
  readonly code: number;
  readonly details: StatusDetails | undefined;

  constructor(reason: StatusReason, message: string, options: StatusOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.code = options.code ?? codeOf(reason);
    this.details = options.details;
  }
}

export function codeOf(reason: StatusReason): number {
  return reason === "" ? 500 : statusCodes[reason];
}

export function isStatusError(error: unknown, reason?: StatusReason): error is StatusError {
  return error instanceof StatusError && (reason === undefined || error.reason === reason);
}

/** The `Status` object for any error: an error that is not a StatusError answers 500 with its message. */
export function toStatus(error: unknown): JsonObject {
  const status = error instanceof StatusError ? error : new StatusError("", messageOf(error));
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    ...(status.message === "" ? {} : { message: status.message }),
    ...(status.reason === "" ? {} : { reason: status.reason }),
    ...(status.details === undefined ? {} : { details: withoutEmpty(status.details) }),
    code: status.code,
  };
}

/** The error for a server's `Status`. */
export function fromStatus(status: JsonObject): StatusError {
  const { reason, message, code, details } = status;
  return new StatusError(isReason(reason) ? reason : "", typeof message === "string" ? message : "", {
    ...(typeof code === "number" ? { code } : {}),
    ...(isObject(details) ? { details: details as StatusDetails } : {}),
  });
}

function isReason(reason: Json | undefined): reason is StatusReason {
  return typeof reason === "string" && Object.hasOwn(statusCodes, reason);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function withoutEmpty(details: StatusDetails): JsonObject {
  const { name, group, kind, uid, causes, retryAfterSeconds } = details;
  return {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    ...(kind ? { kind } : {}),
    ...(uid ? { uid } : {}),
    ...(causes && causes.length > 0 ? { causes: causes.map((cause) => ({ ...cause }) as JsonObject) } : {}),
    ...(retryAfterSeconds ? { retryAfterSeconds } : {}),
  };
}
