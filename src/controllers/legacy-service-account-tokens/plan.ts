/**
 * What becomes of a token that was once made for a service account without being asked for, and that nobody uses.
 *
 *     not used for a year ──► marked as invalid ──► not missed for another year ──► deleted
 *
 * 1. Dates are days, compared as text. Nothing happens before the use of tokens has been noted for as long as they may rest.
 */
import type { core } from "#api";

const LAST_USED = "kubernetes.io/legacy-token-last-used";
export const INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since";
export const REST_MS = 365 * 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export interface Facts {
  /** The day from which on uses are noted, as the API server tells it. */
  readonly trackedSince: string | undefined;
  /** Its service account lists it among its Secrets: that is how those are known that nobody asked for. */
  readonly listed: boolean;
  readonly mounted: boolean;
  readonly now: number;
}

export type Decision =
  | { readonly do: "keep" }
  | { readonly do: "delete" }
  | { readonly do: "mark"; readonly since: string };

export function decide({ metadata }: core.Secret, { trackedSince, listed, mounted, now }: Facts): Decision {
  const keep: Decision = { do: "keep" };
  if (trackedSince === undefined || !isDate(trackedSince)) return keep;
  if (now < Date.parse(trackedSince) + DAY_MS + REST_MS) return keep;
  const since = now - REST_MS;
  if (metadata?.deletionTimestamp !== undefined || Date.parse(metadata?.creationTimestamp ?? "") >= since) return keep;
  const used = metadata?.labels?.[LAST_USED];
  // A day that cannot be read says nothing: it may have been yesterday.
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
