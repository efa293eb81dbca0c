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

export interface TraceStart {
  readonly id: string;
  /** Of a pending trace: whether it is, unless it turns out to be a part of another. */
  readonly sampled: boolean;
  readonly isPending?: boolean;
  readonly parent?: SpanContext | undefined;
}

export class LocalTrace {
  readonly scope: SpanScope;
  #root: Span | undefined;
  #id: string;
  #parent: SpanContext | undefined;
  #sampled: boolean;
  /** Finished spans of a pending trace. */
  #pending: Span[] | undefined;

  constructor(scope: SpanScope, { id, sampled, isPending = false, parent }: TraceStart) {
    this.scope = scope;
    this.#id = id;
    this.#sampled = sampled;
    this.#parent = parent;
    this.#pending = isPending ? [] : undefined;
  }

  get id(): string {
    return this.#id;
  }

  get sampled(): boolean {
    return this.#sampled;
  }

  get isPending(): boolean {
    return this.#pending !== undefined;
  }

  get parent(): SpanContext | undefined {
    return this.#parent;
  }

  /** The first span. */
  get root(): Span {
    if (this.#root === undefined) throw new Error("the trace has no span yet");
    return this.#root;
  }

  began(span: Span): void {
    this.#root ??= span;
  }

  /** Decides a pending trace: it continues that of `parent`, or is one of its own. */
  decide(parent?: SpanContext): void {
    const ended = this.#pending;
    if (ended === undefined) return;
    if (parent !== undefined) {
      this.#id = parent.traceId;
      this.#sampled = parent.sampled;
      this.#parent = parent;
    }
    this.#pending = undefined;
    for (const span of ended) this.ended(span);
  }

  ended(span: Span): void {
    if (this.#pending !== undefined) {
      if (this.#pending.length < MAX_PENDING_SPANS) this.#pending.push(span);
    } else if (this.#sampled) this.scope.sink.add(this.scope.resource, span.data());
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
    const { id: traceId, sampled, parent } = this.trace;
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
