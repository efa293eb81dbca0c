/** A tracer whose finished spans are a list. */
import { type Clock, seededRandom } from "#base";
import { Ids } from "../ids.ts";
import { RevisionSpans } from "../revision-spans.ts";
import type { SpanData } from "../span-data.ts";
import { Tracer } from "../tracer.ts";

export interface TestTracer {
  readonly tracer: Tracer;
  readonly spans: readonly SpanData[];
}

/** `samples`: whether traces that begin here are recorded. */
export function testTracer(
  clock: Pick<Clock, "now">,
  { samples = true, revisions = new RevisionSpans(), service = "test" } = {},
): TestTracer {
  const spans: SpanData[] = [];
  const scope = {
    ids: new Ids(seededRandom(7)),
    resource: { attributes: { "service.name": service } },
    sink: { add: (_: object, span: SpanData) => void spans.push(span) },
    now: () => clock.now(),
  };
  return { tracer: new Tracer({ scope, revisions, sampler: () => samples }), spans };
}
