/** ExportTraceServiceRequest of OTLP 1, in protobuf. The numbers of the fields are those of opentelemetry-proto. */
import { ProtobufWriter } from "./protobuf.ts";
import type { Attributes, Resource, SpanData, SpanEvent } from "./span-data.ts";
import type { SpanContext } from "./trace-context.ts";

export interface ExportedSpan {
  readonly resource: Resource;
  readonly span: SpanData;
}

/** The instrumentation scope. */
const SCOPE = "k8ts";
const REQUEST = { resourceSpans: 1 };
const RESOURCE_SPANS = { resource: 1, scopeSpans: 2 };
const RESOURCE = { attributes: 1 };
const SCOPE_SPANS = { scope: 1, spans: 2 };
const SCOPE_FIELDS = { name: 1 };
const SPAN = {
  traceId: 1,
  spanId: 2,
  traceState: 3,
  parentSpanId: 4,
  name: 5,
  kind: 6,
  startTimeUnixNano: 7,
  endTimeUnixNano: 8,
  attributes: 9,
  events: 11,
  links: 13,
  status: 15,
  flags: 16,
};
const EVENT = { timeUnixNano: 1, name: 2, attributes: 3 };
const LINK = { traceId: 1, spanId: 2, traceState: 3 };
const STATUS = { message: 2, code: 3 };
const KEY_VALUE = { key: 1, value: 2 };
const ANY_VALUE = { string: 1, bool: 2, int: 3, double: 4 };

const FAILED = 2;
/** The W3C flag `sampled`. */
const SAMPLED = 1;

export function otlpRequest(spans: readonly ExportedSpan[]): Buffer {
  const byResource = new Map<Resource, SpanData[]>();
  for (const { resource, span } of spans) {
    const own = byResource.get(resource);
    if (own === undefined) byResource.set(resource, [span]);
    else own.push(span);
  }
  const request = new ProtobufWriter();
  for (const [resource, own] of byResource) {
    request.message(REQUEST.resourceSpans, (message) => {
      message.message(RESOURCE_SPANS.resource, (to) => writeAttributes(to, RESOURCE.attributes, resource.attributes));
      message.message(RESOURCE_SPANS.scopeSpans, (scoped) => {
        scoped.message(SCOPE_SPANS.scope, (scope) => scope.text(SCOPE_FIELDS.name, SCOPE));
        for (const span of own) scoped.message(SCOPE_SPANS.spans, (to) => writeSpan(to, span));
      });
    });
  }
  return request.bytes();
}

function writeSpan(to: ProtobufWriter, span: SpanData): void {
  const { failure } = span;
  to.hex(SPAN.traceId, span.traceId);
  to.hex(SPAN.spanId, span.spanId);
  to.text(SPAN.traceState, span.state ?? "");
  to.hex(SPAN.parentSpanId, span.parentSpanId ?? "");
  to.text(SPAN.name, span.name);
  to.varint(SPAN.kind, span.kind);
  to.fixed64(SPAN.startTimeUnixNano, nanos(span.startMs));
  to.fixed64(SPAN.endTimeUnixNano, nanos(span.endMs));
  writeAttributes(to, SPAN.attributes, span.attributes);
  for (const event of span.events) to.message(SPAN.events, (message) => writeEvent(message, event));
  for (const link of span.links) to.message(SPAN.links, (message) => writeLink(message, link));
  if (failure !== undefined) {
    to.message(SPAN.status, (status) => {
      status.text(STATUS.message, failure);
      status.varint(STATUS.code, FAILED);
    });
  }
  to.fixed32(SPAN.flags, SAMPLED);
}

function writeEvent(to: ProtobufWriter, { atMs, name, attributes }: SpanEvent): void {
  to.fixed64(EVENT.timeUnixNano, nanos(atMs));
  to.text(EVENT.name, name);
  writeAttributes(to, EVENT.attributes, attributes);
}

function writeLink(to: ProtobufWriter, { traceId, spanId, state = "" }: SpanContext): void {
  to.hex(LINK.traceId, traceId);
  to.hex(LINK.spanId, spanId);
  to.text(LINK.traceState, state);
}

function writeAttributes(to: ProtobufWriter, field: number, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    to.message(field, (pair) => {
      pair.text(KEY_VALUE.key, key);
      pair.message(KEY_VALUE.value, (any) => writeValue(any, value));
    });
  }
}

function writeValue(to: ProtobufWriter, value: string | number | boolean): void {
  if (typeof value === "string") to.alwaysText(ANY_VALUE.string, value);
  else if (typeof value === "boolean") to.alwaysVarint(ANY_VALUE.bool, value ? 1 : 0);
  else if (Number.isSafeInteger(value)) to.alwaysVarint(ANY_VALUE.int, value);
  else to.double(ANY_VALUE.double, value);
}

/** Whole microseconds: a double holds no more of a time since the epoch. */
function nanos(ms: number): bigint {
  return BigInt(Math.round(ms * 1000)) * 1000n;
}
