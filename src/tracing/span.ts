/**
 * A span, and the part of a trace that this process has of it.
 *
 *     LocalTrace: the trace id, whether it is sampled, its parent elsewhere
 *        └── Span (root) ──► Span ──► Span         each is exported when it ends
 *
 * 1. A pending trace keeps its finished spans until it is known which trace it belongs to: then all of them go there.
 * 2. A span that ends twice, or after its trace was dropped, does nothing.
 */
import type { Ids } from "./ids.ts";
import {
  type Attributes,
  INTERNAL,
  type Resource,
  type SpanData,
  type SpanEvent,
  type SpanKind,
  type SpanSink,
} from "./span-data.ts";
import { headersOf, type SpanContext } from "./trace-context.ts";

/** Of one pending trace: more are dropped. */
const MAX_PENDING_SPANS = 256;
const MAX_EVENTS = 64;

/** What all spans of a tracer share. */
export interface SpanScope {
  readonly ids: Ids;
  readonly resource: Resource;
  readonly sink: SpanSink;
  /** Milliseconds since the epoch, with fractions. */
  readonly now: () => number;
}

export class LocalTrace {
  readonly scope: SpanScope;
  #root: Span | undefined;
  #id: string;
  #parent: SpanContext | undefined;
  #sampled: boolean | undefined;
  #pending: Span[] | undefined;

  /** `sampled`: undefined if it is decided later. */
  constructor(scope: SpanScope, id: string, sampled: boolean | undefined, parent?: SpanContext) {
    this.scope = scope;
    this.#id = id;
    this.#sampled = sampled;
    this.#parent = parent;
    this.#pending = sampled === undefined ? [] : undefined;
  }

  get id(): string {
    return this.#id;
  }

  /** The first span. */
  get root(): Span {
    if (this.#root === undefined) throw new Error("the trace has no span yet");
    return this.#root;
  }

  began(span: Span): void {
    this.#root ??= span;
  }

  get sampled(): boolean | undefined {
    return this.#sampled;
  }

  get parent(): SpanContext | undefined {
    return this.#parent;
  }

  /** Decides a pending trace: it continues the trace of `parent`, or is one of its own. */
  decide(sampled: boolean, parent?: SpanContext): void {
    if (this.#sampled !== undefined) return;
    this.#sampled = sampled;
    if (parent !== undefined) {
      this.#id = parent.traceId;
      this.#parent = parent;
    }
    const ended = this.#pending ?? [];
    this.#pending = undefined;
    for (const span of ended) this.ended(span);
  }

  ended(span: Span): void {
    if (this.#sampled === true) this.scope.sink.add(this.scope.resource, span.data());
    else if (this.#pending !== undefined && this.#pending.length < MAX_PENDING_SPANS) this.#pending.push(span);
  }
}

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** Default: now. */
  readonly startMs?: number;
  readonly links?: readonly SpanContext[];
  readonly events?: readonly SpanEvent[];
}

export class Span {
  readonly id: string;
  readonly name: string;
  readonly trace: LocalTrace;
  readonly #parentId: string | undefined;
  readonly #kind: SpanKind;
  readonly #startMs: number;
  readonly #attributes: Record<string, string | number | boolean | undefined>;
  readonly #events: SpanEvent[];
  readonly #links: SpanContext[];
  #failure: string | undefined;
  #endMs: number | undefined;

  /** `parentId`: undefined for the root of the local trace. */
  constructor(trace: LocalTrace, name: string, options: SpanOptions = {}, parentId?: string) {
    const { kind = INTERNAL, attributes = {}, startMs = trace.scope.now(), links = [], events = [] } = options;
    this.id = trace.scope.ids.span();
    this.name = name;
    this.trace = trace;
    this.#parentId = parentId;
    this.#kind = kind;
    this.#startMs = startMs;
    this.#attributes = { ...attributes };
    this.#links = [...links];
    this.#events = events.slice(0, MAX_EVENTS);
    trace.began(this);
  }

  get hasEnded(): boolean {
    return this.#endMs !== undefined;
  }

  get context(): SpanContext {
    const { id: traceId, sampled = false, parent } = this.trace;
    return { traceId, spanId: this.id, sampled, state: parent?.state };
  }

  /** For requests to other programs. */
  headers(): Readonly<Record<string, string>> {
    return headersOf(this.context);
  }

  child(name: string, options?: SpanOptions): Span {
    return new Span(this.trace, name, options, this.id);
  }

  set(attributes: Attributes): void {
    Object.assign(this.#attributes, attributes);
  }

  event(name: string, attributes: Attributes = {}, atMs = this.trace.scope.now()): void {
    if (this.#events.length < MAX_EVENTS) this.#events.push({ name, atMs, attributes });
  }

  link(context: SpanContext): void {
    this.#links.push(context);
  }

  fail(message: string): void {
    this.#failure ??= message;
  }

  end(endMs = this.trace.scope.now()): void {
    if (this.#endMs !== undefined) return;
    this.#endMs = Math.max(endMs, this.#startMs);
    this.trace.ended(this);
  }

  data(): SpanData {
    const { trace, id: spanId, name } = this;
    return {
      traceId: trace.id,
      spanId,
      parentSpanId: this.#parentId ?? trace.parent?.spanId,
      state: trace.parent?.state,
      name,
      kind: this.#kind,
      startMs: this.#startMs,
      endMs: this.#endMs ?? this.#startMs,
      attributes: this.#attributes,
      events: this.#events,
      links: this.#links,
      failure: this.#failure,
    };
  }
}
