/**
 * Which span wrote a revision, for the latest sampled writes: what the revision wakes continues the same trace.
 *
 * 1. In one process, all components share these. A component in its own process gets them from the API server's
 *    answers to its requests (`CAUSE_SPAN_HEADER`).
 */
import { LruMap } from "#base";
import { readTraceparent, type SpanContext, traceparentOf } from "./trace-context.ts";

/** Of an answer: `REVISION=TRACEPARENT`, the write that woke the work that sent the request. */
export const CAUSE_SPAN_HEADER = "k8ts-cause-span";

const MAX_REVISIONS = 8192;

export class RevisionSpans {
  readonly #spans = new LruMap<number, SpanContext>(MAX_REVISIONS);

  wrote(revision: number, by: SpanContext): void {
    if (by.sampled) this.#spans.set(revision, by);
  }

  /** The latest known one. */
  latest(revisions: readonly number[]): { readonly revision: number; readonly by: SpanContext } | undefined {
    let found: { readonly revision: number; readonly by: SpanContext } | undefined;
    for (const revision of revisions) {
      if (found !== undefined && found.revision >= revision) continue;
      const by = this.#spans.get(revision);
      if (by !== undefined) found = { revision, by };
    }
    return found;
  }

  /** Takes over what an answer says. */
  learn(header: string | undefined): void {
    if (header === undefined) return;
    const at = header.indexOf("=");
    const revision = Number(header.slice(0, at));
    const by = readTraceparent(header.slice(at + 1));
    if (at > 0 && Number.isSafeInteger(revision) && by !== undefined) this.wrote(revision, by);
  }
}

export function causeSpanHeader({ revision, by }: { readonly revision: number; readonly by: SpanContext }): string {
  return `${revision}=${traceparentOf(by)}`;
}
