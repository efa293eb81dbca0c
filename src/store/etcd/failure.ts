/**
 * The failure of one call to one member: from gRPC's codes and etcd's messages to what the store can act on, and a
 * message for people.
 *
 * 1. `sent` is false only if the request certainly changed nothing: it was never sent, or etcd refused it before
 *    processing it. In doubt it is true.
 * 2. etcd's messages are part of its API: its own clients distinguish errors by them.
 */

import { type ServiceError, status } from "@grpc/grpc-js";

export type FailureKind =
  /** There is no connection, or no answer on it. */
  | "unreachable"
  /** The member answers, but cannot reach its cluster now; its own data can be read. */
  | "leaderless"
  | "busy"
  | "full"
  | "corrupt"
  | "too-large"
  | "compacted"
  | "future"
  /** etcd refused the request; a retry would not help. */
  | "refused";

export interface Failure {
  readonly kind: FailureKind;
  readonly sent: boolean;
  /** Completes "https://…: ". */
  readonly reason: string;
  readonly cause: unknown;
  /** There was no answer in time, and no error either. */
  readonly isSilence?: true;
}

/** A retry, on this member later or on another, may succeed. */
export function isPassing({ kind }: Failure): boolean {
  return kind === "unreachable" || kind === "leaderless" || kind === "busy";
}

const ANSWERS: readonly (readonly [words: string, kind: FailureKind, sent: boolean])[] = [
  ["etcdserver: no leader", "leaderless", false],
  // A learner serves hardly anything: another member is asked, for local reads as well.
  ["etcdserver: rpc not supported for learner", "unreachable", false],
  ["etcdserver: too many requests", "busy", false],
  ["etcdserver: mvcc: database space exceeded", "full", false],
  ["etcdserver: mvcc: required revision has been compacted", "compacted", false],
  ["etcdserver: mvcc: required revision is a future revision", "future", false],
  ["etcdserver: member not found", "refused", false],
  ["etcdserver: request is too large", "too-large", false],
  ["grpc: received message larger than max", "too-large", false],
  ["etcdserver: corrupt cluster", "corrupt", true],
  ["etcdserver: leader changed", "leaderless", true],
  ["etcdserver: not leader", "leaderless", true],
  // Also "…, possibly due to previous leader failure" and "… connection lost".
  ["etcdserver: request timed out", "leaderless", true],
  ["etcdserver: unhealthy cluster", "leaderless", true],
  ["etcdserver: server stopped", "unreachable", true],
];

const REFUSALS: ReadonlySet<number> = new Set([
  status.INVALID_ARGUMENT,
  status.PERMISSION_DENIED,
  status.UNAUTHENTICATED,
  status.FAILED_PRECONDITION,
  status.UNIMPLEMENTED,
]);

/** gRPC's messages for a call without a connection. */
const NEVER_LEFT = /^(No connection established|Name resolution failed)/;

const REASONS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/ECONNREFUSED/, "nothing listens there (connection refused)"],
  [/Name resolution failed|ENOTFOUND|EAI_AGAIN/, "its name cannot be resolved"],
  [/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/, "no connection can be made (unreachable or timed out)"],
  [/ALTNAME_INVALID/, "its certificate is not made out for this address"],
  [/certificate has expired|CERT_HAS_EXPIRED/, "its certificate has expired"],
  [
    /unable to verify|unable to get (local )?issuer|self[- ]signed|certificate signature failure/,
    "its certificate is not signed by the CA that was given (--etcd-cafile)",
  ],
  [
    /alert (bad certificate|certificate required|unknown ca|certificate unknown|handshake failure)|alert number (40|42|46|48|116)\b/,
    "it does not accept the client certificate (--etcd-certfile)",
  ],
  [/wrong version number|packet length too long/, "it does not speak TLS: should the URL begin with http://?"],
  [/Failed to connect/, "it closes the connection at once: should the URL begin with https://?"],
];

export function failureOf(error: unknown): Failure {
  if (!isServiceError(error)) return { kind: "unreachable", sent: true, reason: String(error), cause: error };
  const { code, details } = error;
  const answer = ANSWERS.find(([words]) => details.startsWith(words));
  if (answer !== undefined)
    return { kind: answer[1], sent: answer[2], reason: `it answers "${details}"`, cause: error };
  if (REFUSALS.has(code)) return { kind: "refused", sent: false, reason: `it answers "${details}"`, cause: error };
  const reason =
    REASONS.find(([pattern]) => pattern.test(details))?.[1] ?? `the connection failed (${firstLine(details)})`;
  const sent = !(code === status.UNAVAILABLE && NEVER_LEFT.test(details));
  return { kind: "unreachable", sent, reason, cause: error };
}

/** The deadline has passed. A member that is still connected may have lost its quorum. */
export function silence(connected: boolean): Failure {
  const kind = connected ? "leaderless" : "unreachable";
  return { kind, sent: true, reason: "it does not answer", cause: undefined, isSilence: true };
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error && typeof error.details === "string";
}

function firstLine(text: string): string {
  return (text.split("\n")[0] ?? "").replace(/\. Resolution note: $/, "");
}
