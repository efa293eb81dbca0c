/**
 * The tracer of one component: its own spans, and which of them is active.
 *
 * 1. The active span follows asynchronous calls, within this component only: a request that one component sends to
 *    another in the same process carries headers, as over a network.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { RevisionSpans } from "./revision-spans.ts";
import type { Sampler } from "./sampling.ts";
import { LocalTrace, Span, type SpanOptions, type SpanScope } from "./span.ts";
import { CLIENT } from "./span-data.ts";
import type { SpanContext } from "./trace-context.ts";
import { type Work, type WorkFacts, WorkSpans } from "./works.ts";

export interface TracerOptions {
  readonly scope: SpanScope;
  readonly revisions: RevisionSpans;
  readonly sampler: Sampler;
}

interface Active {
  readonly span: Span;
  readonly work?: Work | undefined;
}

export class Tracer {
  readonly revisions: RevisionSpans;
  readonly works: WorkSpans;
  readonly #options: TracerOptions;
  readonly #active = new AsyncLocalStorage<Active>();

  constructor(options: TracerOptions) {
    this.#options = options;
    this.revisions = options.revisions;
    this.works = new WorkSpans(options);
  }

  /** The first span of a trace in this process. Undefined: it is not sampled. */
  root(name: string, parent: SpanContext | undefined, options: SpanOptions): Span | undefined {
    const { scope, sampler } = this.#options;
    if (parent !== undefined) {
      if (!parent.sampled) return undefined;
      return new Span(new LocalTrace(scope, { id: parent.traceId, sampled: true, parent }), name, options);
    }
    const id = scope.ids.trace();
    return sampler(id) ? new Span(new LocalTrace(scope, { id, sampled: true }), name, options) : undefined;
  }

  /** What goes on after the span has ended, such as a loop that was started during it, is no part of it. */
  get active(): Span | undefined {
    const span = this.#active.getStore()?.span;
    return span?.hasEnded === true ? undefined : span;
  }

  /** The work that `during` runs. */
  get activeWork(): Work | undefined {
    const work = this.#active.getStore()?.work;
    return work?.span.hasEnded === true ? undefined : work;
  }

  run<T>(span: Span, call: () => T): T {
    return this.#active.run({ span, work: this.activeWork }, call);
  }

  /** A call to another program, as a part of what is active. Undefined: nothing is. */
  calls(name: string, attributes: SpanOptions["attributes"] = {}): Span | undefined {
    const { active } = this;
    if (active === undefined) return undefined;
    // The trace may have become known.
    this.activeWork?.isKnown();
    return active.child(name, { kind: CLIENT, attributes });
  }

  /** A gRPC call, with OpenTelemetry's name and attributes. `path`: `/etcdserverpb.KV/Txn`. */
  rpc(path: string): Span | undefined {
    if (this.active === undefined) return undefined;
    const [service = "", method = ""] = path.slice(1).split("/");
    const attributes = { "rpc.system": "grpc", "rpc.service": service, "rpc.method": method };
    return this.calls(`${service}/${method}`, attributes);
  }

  /** Runs a work of this component; its span ends with it. */
  async during<T>(facts: WorkFacts, work: (span: Span) => Promise<T>): Promise<T> {
    const begun = this.works.begin(facts);
    const { span } = begun;
    try {
      return await this.#active.run({ span, work: begun }, () => work(span));
    } catch (error) {
      span.fail(error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      this.works.end(begun);
    }
  }
}
