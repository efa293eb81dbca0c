/**
 * Spans of works: what a component does between what woke it and its last request, as the header of its requests says
 * (see #flows).
 *
 *     revision --► work ──► request ──► request ──► (no more for LINGER_MS) ──► the span ends with the last answer
 *
 * 1. A work continues the trace of the latest write that woke it. Where that is not known yet, the API server's answer
 *    says it: the span is exported only when the work has ended.
 * 2. A work that nothing known has woken is a trace of its own, if it is sampled.
 * 3. At most MAX_OPEN works are open, or wait for their trace to become known: beyond it the oldest end.
 */
import type { RevisionSpans } from "./revision-spans.ts";
import type { Sampler } from "./sampling.ts";
import { LocalTrace, Span, type SpanOptions, type SpanScope } from "./span.ts";

export const LINGER_MS = 1000;
/** How long a work that has ended waits for its trace to become known. */
const HOLD_MS = 5000;
const MAX_OPEN = 4096;

export interface WorkFacts extends SpanOptions {
  readonly name: string;
  readonly woken: readonly number[];
}

interface Open {
  readonly work: Work;
  underWay: number;
  lastMs: number;
}

/** A work and the revisions that woke it. */
export class Work {
  readonly span: Span;
  readonly #woken: readonly number[];
  readonly #options: WorksOptions;

  constructor({ name, woken, ...options }: WorkFacts, parts: WorksOptions) {
    const { scope, sampler } = parts;
    const id = scope.ids.trace();
    this.#woken = woken;
    this.#options = parts;
    this.span = new Span(new LocalTrace(scope, { id, sampled: sampler(id), isPending: true }), name, options);
    this.isKnown();
  }

  /** Whether it is known which trace it belongs to. */
  isKnown(): boolean {
    const { trace } = this.span;
    if (!trace.isPending) return true;
    const known = this.#options.revisions.latest(this.#woken);
    if (known !== undefined) trace.decide(known.by);
    return known !== undefined;
  }

  /** For a request: they name the right trace as soon as it is known. */
  headers(): Readonly<Record<string, string>> {
    this.isKnown();
    return this.span.headers();
  }

  /** Nothing known has woken it: it is a trace of its own. */
  decide(): void {
    if (!this.isKnown()) this.span.trace.decide();
  }
}

export interface WorksOptions {
  readonly scope: SpanScope;
  readonly revisions: RevisionSpans;
  readonly sampler: Sampler;
}

export class WorkSpans {
  readonly #options: WorksOptions;
  readonly #open = new Map<string, Open>();
  #held: { readonly work: Work; readonly untilMs: number }[] = [];

  constructor(options: WorksOptions) {
    this.#options = options;
  }

  begin(facts: WorkFacts): Work {
    return new Work(facts, this.#options);
  }

  end(work: Work, endMs?: number): void {
    work.span.end(endMs);
    if (work.isKnown()) return;
    if (this.#held.length >= MAX_OPEN) this.#held.shift()?.work.decide();
    this.#held.push({ work, untilMs: this.#options.scope.now() + HOLD_MS });
  }

  /** The work with this id sends a request. Call `answered` once. */
  sends(id: string, facts: () => WorkFacts | undefined): { readonly work: Work; answered(): void } | undefined {
    let open = this.#open.get(id);
    if (open === undefined) {
      const known = facts();
      if (known === undefined) return undefined;
      open = { work: this.begin(known), underWay: 0, lastMs: 0 };
      this.#open.set(id, open);
      if (this.#open.size > MAX_OPEN) this.#endOldest();
    }
    const { work } = open;
    open.underWay += 1;
    return {
      work,
      answered: () => {
        open.underWay -= 1;
        open.lastMs = this.#options.scope.now();
      },
    };
  }

  /** Ends the works that have sent nothing for a while; with `all`, every one. */
  sweep(all = false): void {
    const nowMs = this.#options.scope.now();
    const beforeMs = nowMs - LINGER_MS;
    for (const [id, open] of this.#open) {
      if (!all && (open.underWay > 0 || open.lastMs > beforeMs)) continue;
      this.#open.delete(id);
      this.end(open.work, open.lastMs === 0 ? undefined : open.lastMs);
    }
    this.#held = this.#held.filter(({ work, untilMs }) => {
      if (work.isKnown()) return false;
      if (!all && untilMs > nowMs) return true;
      work.decide();
      return false;
    });
  }

  #endOldest(): void {
    for (const [id, { work }] of this.#open) {
      this.#open.delete(id);
      this.end(work);
      return;
    }
  }
}
