/**
 * The header `k8ts-cause`: the work that sent a request.
 *
 * 1. The header has a maximum size: texts are cut, then the reads are dropped, then calls from the end.
 * 2. A malformed header is ignored; the request is served.
 */
import type { Call } from "./record.ts";

export const CAUSE_HEADER = "k8ts-cause";

/** A component's description of its work. */
export interface Cause {
  /** Unique among all works: the name of the process and a number. */
  readonly id: string;
  readonly actor: string;
  readonly about: string;
  /** The resource of the object whose key `about` is: `pods`, `apps/deployments`. Absent: about no single object. */
  readonly resource?: string | undefined;
  readonly woken: readonly number[];
  /** What it read. */
  readonly read?: readonly string[];
  readonly startedAt: number;
  readonly decided: string;
  readonly calls: readonly Call[];
}

const MAX_BYTES = 4096;
const MAX_WORDS = 300;
const MAX_WOKEN = 64;
const MAX_CALLS = 32;
const MAX_READ = 16;

export function writeCause(cause: Cause): string {
  const { id, actor, resource, startedAt } = cause;
  const about = cause.about.slice(0, MAX_WORDS);
  const decided = cause.decided.slice(0, MAX_WORDS);
  const woken = cause.woken.slice(-MAX_WOKEN);
  // Written for every request: one JSON value, absent fields omitted.
  const textOf = (calls: readonly Call[], read?: readonly string[]) =>
    `${id} ${ascii(JSON.stringify({ id, actor, about, resource, woken, startedAt, decided, calls, read }))}`;
  const calls = cause.calls.length === 0 ? cause.calls : cause.calls.slice(0, MAX_CALLS);
  const whole = textOf(calls, wordsOf(cause.read));
  if (whole.length <= MAX_BYTES) return whole;
  for (let some = calls; ; some = some.slice(0, -1)) {
    const text = textOf(some);
    if (text.length <= MAX_BYTES || some.length === 0) return text;
  }
}

/** Undefined: nothing was read. */
function wordsOf(read: readonly string[] = []): readonly string[] | undefined {
  return read.length === 0 ? undefined : read.slice(0, MAX_READ).map((words) => words.slice(0, MAX_WORDS));
}

/** The id comes first, so that the rest of a known work need not be parsed. */
export function causeId(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const end = header.indexOf(" ");
  return end <= 0 || end > MAX_WORDS ? undefined : header.slice(0, end);
}

/** Undefined if it is malformed. */
export function readCause(header: string | undefined): Cause | undefined {
  if (header === undefined || header.length > MAX_BYTES) return undefined;
  try {
    const read: unknown = JSON.parse(header.slice(header.indexOf(" ") + 1));
    return isCause(read) && read.id === causeId(header) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isCause(value: unknown): value is Cause {
  if (typeof value !== "object" || value === null) return false;
  const fields = value as Record<keyof Cause, unknown>;
  const { id, actor, about, resource = "", woken, read = [], startedAt, decided, calls } = fields;
  const words = [id, actor, about, resource, decided].every(isWords);
  if (!Array.isArray(read) || read.length > MAX_READ || !read.every(isWords)) return false;
  if (!words || !Number.isFinite(startedAt) || !Array.isArray(woken) || !Array.isArray(calls)) return false;
  return (
    woken.length <= MAX_WOKEN && woken.every(Number.isSafeInteger) && calls.length <= MAX_CALLS && calls.every(isCall)
  );
}

function isWords(value: unknown): boolean {
  return typeof value === "string" && value.length <= MAX_WORDS;
}

function isCall(value: unknown): value is Call {
  if (typeof value !== "object" || value === null) return false;
  const { to, what, afterMs, tookMs, failed } = value as Record<keyof Call, unknown>;
  return (
    typeof to === "string" &&
    typeof what === "string" &&
    Number.isFinite(afterMs) &&
    Number.isFinite(tookMs) &&
    (failed === undefined || typeof failed === "string")
  );
}

/** The characters that a header may have. */
function ascii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
