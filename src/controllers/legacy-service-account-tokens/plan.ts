/**
 * Removes unused auto-generated service account tokens.
 *
 *     not used for a year ──► marked as invalid ──► not used for another year ──► deleted
 *
 * 1. Dates are days, compared as strings. Nothing happens before usage has been tracked for a year.
 */
import type { core } from "#api";

const LAST_USED = "kubernetes.io/legacy-token-last-used";
export const INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since";
export const REST_MS = 365 * 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export interface Facts {
  /** Since when the API server tracks usage. */
  readonly trackedSince: string | undefined;
  /** The service account lists the Secret, which identifies auto-generated tokens. */
  readonly listed: boolean;
  readonly mounted: boolean;
  readonly now: number;
  /** How long a token rests before each step. Default: a year. */
  readonly restMs?: number | undefined;
}

export type Decision =
  | { readonly do: "keep" }
  | { readonly do: "delete" }
  | { readonly do: "mark"; readonly since: string };

export function decide(
  { metadata }: core.Secret,
  { trackedSince, listed, mounted, now, restMs = REST_MS }: Facts,
): Decision {
  const keep: Decision = { do: "keep" };
  if (trackedSince === undefined || !isDate(trackedSince)) return keep;
  if (now < Date.parse(trackedSince) + DAY_MS + restMs) return keep;
  const since = now - restMs;
  if (metadata?.deletionTimestamp !== undefined || Date.parse(metadata?.creationTimestamp ?? "") >= since) return keep;
  const used = metadata?.labels?.[LAST_USED];
  // An unreadable date counts as recent.
  if (used !== undefined && (!isDate(used) || used >= dayOf(since))) return keep;
  if (!listed || mounted) return keep;
  const invalid = metadata?.labels?.[INVALID_SINCE] ?? "";
  if (!isDate(invalid)) return { do: "mark", since: dayOf(now) };
  return invalid >= dayOf(since) ? keep : { do: "delete" };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function isDate(text: string): boolean {
  return DATE.test(text) && !Number.isNaN(Date.parse(text));
}
