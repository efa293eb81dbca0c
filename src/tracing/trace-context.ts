/**
 * W3C Trace Context: which span a request belongs to, in the headers `traceparent` and `tracestate`.
 *
 * 1. A malformed traceparent is ignored, together with its tracestate. A later version is read as this one.
 */

export const TRACEPARENT = "traceparent";
export const TRACESTATE = "tracestate";

export interface SpanContext {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** 16 of them. */
  readonly spanId: string;
  readonly sampled: boolean;
  /** What other tracing systems want to be passed on. */
  readonly state?: string | undefined;
}

type Headers = Readonly<Record<string, string | undefined>>;

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;
const MAX_STATE = 512;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);

export function readTraceparent(text: string | undefined): SpanContext | undefined {
  if (text === undefined) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", more] = FORM.exec(text.trim()) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

/** Undefined: the request is part of no trace. */
export function contextOf(headers: Headers): SpanContext | undefined {
  const context = readTraceparent(headers[TRACEPARENT]);
  const state = headers[TRACESTATE];
  return context === undefined || state === undefined || state.length > MAX_STATE ? context : { ...context, state };
}

export function traceparentOf({ traceId, spanId, sampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

export function headersOf(context: SpanContext): Readonly<Record<string, string>> {
  const { state } = context;
  const own = { [TRACEPARENT]: traceparentOf(context) };
  return state === undefined ? own : { ...own, [TRACESTATE]: state };
}
