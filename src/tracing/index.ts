/** The whole public surface of tracing. */
export { CAUSE_SPAN_HEADER, causeSpanHeader, RevisionSpans } from "./revision-spans.ts";
export { readTracingSettings, type TracingSettings } from "./settings.ts";
export type { Span, SpanOptions } from "./span.ts";
export { type Attributes, CLIENT, INTERNAL, SERVER } from "./span-data.ts";
export { contextOf, type SpanContext, TRACEPARENT, TRACESTATE } from "./trace-context.ts";
export type { Tracer } from "./tracer.ts";
export { Tracing, type TracingOptions } from "./tracing.ts";
export type { Work, WorkFacts } from "./works.ts";
