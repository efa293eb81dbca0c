/**
 * Which trace a request continues.
 *
 * 1. A work continues the trace of the latest write that woke it, if the sender's identity proves that it does this
 *    work: its requests do, too, whatever else their headers say. The sender is told of it.
 * 2. As in Kubernetes, only system:masters and system:monitoring may decide by a traceparent what is sampled, and
 *    components of this process. Traces of others get a link.
 */
import { CAUSE_HEADER, type Cause, readCause, vouchesFor } from "#flows";
import { contextOf, type RevisionSpans, type SpanContext } from "#tracing";
import type { Authenticated } from "../pipeline/exchange.ts";

const MAY_SAMPLE = ["system:masters", "system:monitoring"];

export interface Parentage {
  readonly parent: SpanContext | undefined;
  /** The sender's own trace, where the request does not continue it. */
  readonly link?: SpanContext | undefined;
  /** The write that the sender has to take for the parent of its work. */
  readonly tell?: { readonly revision: number; readonly by: SpanContext } | undefined;
}

export function parentageOf({ original, caller }: Authenticated, revisions: RevisionSpans): Parentage {
  const { headers, remoteAddress } = original;
  const sent = contextOf(headers);
  const maySample = remoteAddress === undefined || caller.groups.some((group) => MAY_SAMPLE.includes(group));
  if (maySample && sent?.sampled === true) return { parent: sent };
  const header = headers[CAUSE_HEADER];
  const known = header === undefined ? undefined : causeOf(readCause(header), caller.name, revisions);
  if (known !== undefined) {
    const { by } = known;
    if (sent === undefined) return { parent: by };
    const parent = { ...by, spanId: sent.spanId };
    return sent.traceId === by.traceId ? { parent } : { parent, tell: known };
  }
  return maySample || sent === undefined ? { parent: sent } : { parent: undefined, link: sent };
}

function causeOf(cause: Cause | undefined, user: string, revisions: RevisionSpans) {
  if (cause === undefined || !vouchesFor(user, cause.actor)) return undefined;
  return revisions.latest(cause.woken);
}
