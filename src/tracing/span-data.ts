/** A finished span, as it is exported. The numbers are those of OTLP. */
import type { SpanContext } from "./trace-context.ts";

export const INTERNAL = 1;
export const SERVER = 2;
export const CLIENT = 3;

export type SpanKind = typeof INTERNAL | typeof SERVER | typeof CLIENT;

/** Undefined values are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanEvent {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: Attributes;
}

export interface SpanData {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly state: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since the epoch, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanContext[];
  /** The message of a failure. */
  readonly failure: string | undefined;
}

/** Whose spans they are: `service.name` and the like. */
export interface Resource {
  readonly attributes: Attributes;
}

export interface SpanSink {
  /** Never waits, never throws. */
  add(resource: Resource, span: SpanData): void;
}
