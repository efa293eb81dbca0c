/** How users name a moment: a revision (`1041`), a time (`2026-01-31T12:00:00Z`), a duration ago (`5m`), `now`. */
import { badRequest, durationMs } from "#api";

export type Moment = { readonly revision: number } | { readonly atMs: number };

/** Throws the error for the client. */
export function parseMoment(text: string, nowMs: number): Moment {
  if (/^[1-9]\d{0,15}$/.test(text)) return { revision: Number(text) };
  if (text === "now") return { atMs: nowMs };
  const agoMs = durationOf(text.replace(/^-/, ""));
  if (agoMs !== undefined) return { atMs: nowMs - agoMs };
  const atMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) {
    const forms = "a revision (1041), a time (2026-01-31T12:00:00Z), a duration ago (-5m) or now";
    throw badRequest(`k8ts-at: ${JSON.stringify(text)} is not a moment: use ${forms}`);
  }
  if (atMs > nowMs) throw badRequest(`k8ts-at: ${text} is in the future`);
  return { atMs };
}

function durationOf(text: string): number | undefined {
  if (!/^[\d.]+[a-zµ]/.test(text)) return undefined;
  try {
    return durationMs(text);
  } catch {
    return undefined; // The caller names all forms in its error.
  }
}
