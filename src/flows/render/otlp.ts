/**
 * A flow as one trace of OpenTelemetry (OTLP in JSON): works and requests are spans, causes are their parents.
 *
 * 1. What was traced while it happened has the ids that were exported then; other records have ids of this rendering.
 */
import { createHash } from "node:crypto";
import type { FlowRecord, RequestRecord, WorkRecord } from "../record/record.ts";
import { causesOf } from "../trace/trace.ts";

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code: number; readonly message?: string };
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
}

const SERVER = 2;
const INTERNAL = 1;
const OK = 1;
const FAILED = 2;

/** One set of spans for each participant. */
export function otlp(records: readonly FlowRecord[]): object {
  const first = records[0];
  const traced = records.find(({ span }) => span !== undefined)?.span;
  const traceId = traced?.traceId ?? idOf(`flow ${first?.seq} ${first?.at}`, 32);
  const workOf = new Map<string, WorkRecord>();
  for (const record of records) if (record.type === "work") workOf.set(record.id, record);
  const requestOf = new Map<number, RequestRecord>();
  for (const record of records)
    if (record.type === "request" && record.written !== undefined) requestOf.set(record.written.revision, record);
  const services = new Map<string, Span[]>();
  for (const record of records) {
    if (record.type === "delivery") continue;
    const span = record.type === "work" ? workSpan(record, requestOf, traceId) : requestSpan(record, workOf, traceId);
    const service = record.type === "work" ? record.actor : "apiserver";
    services.set(service, [...(services.get(service) ?? []), span]);
  }
  return {
    resourceSpans: [...services].map(([service, spans]) => ({
      resource: { attributes: [text("service.name", service)] },
      scopeSpans: [{ scope: { name: "k8ts" }, spans }],
    })),
  };
}

function requestSpan(record: RequestRecord, workOf: ReadonlyMap<string, WorkRecord>, traceId: string): Span {
  const { at, tookMs, actor, user, verb, resource, namespace, name, status, reason, written, cause } = record;
  return {
    traceId,
    spanId: requestId(record),
    ...(cause !== undefined && { parentSpanId: workId(workOf.get(cause) ?? { id: cause }) }),
    name: `${verb} ${resource}`,
    kind: SERVER,
    ...times(at, tookMs),
    attributes: [
      text("k8s.resource", resource),
      text("k8s.namespace.name", namespace),
      text("k8s.object.name", name),
      text("enduser.id", user),
      text("k8ts.actor", actor),
      whole("http.response.status_code", status),
      ...(written === undefined ? [] : [whole("k8ts.revision", written.revision)]),
    ],
    status: status < 400 ? { code: OK } : { code: FAILED, message: reason ?? String(status) },
  };
}

function workSpan(record: WorkRecord, requestOf: ReadonlyMap<number, RequestRecord>, traceId: string): Span {
  const { at, tookMs, actor, about, decided, woken, read = [] } = record;
  const cause = causesOf(record)
    .map((revision) => requestOf.get(revision))
    .find((request) => request !== undefined);
  return {
    traceId,
    spanId: workId(record),
    ...(cause !== undefined && { parentSpanId: requestId(cause) }),
    name: `${actor} ${about}`,
    kind: INTERNAL,
    ...times(at, tookMs),
    attributes: [
      text("k8ts.about", about),
      text("k8ts.decided", decided),
      text("k8ts.woken", woken.join(",")),
      ...(read.length === 0 ? [] : [text("k8ts.read", read.join(","))]),
    ],
    status: { code: OK },
  };
}

function requestId({ seq, span }: RequestRecord): string {
  return span?.spanId ?? idOf(`request ${seq}`, 16);
}

function workId({ id, span }: Pick<WorkRecord, "id" | "span">): string {
  return span?.spanId ?? idOf(`work ${id}`, 16);
}

function times(at: number, tookMs: number) {
  return { startTimeUnixNano: nanos(at), endTimeUnixNano: nanos(at + tookMs) };
}

function nanos(ms: number): string {
  return (BigInt(Math.round(ms * 1000)) * 1000n).toString();
}

function idOf(words: string, digits: number): string {
  return createHash("sha256").update(words).digest("hex").slice(0, digits);
}

function text(key: string, value: string): Attribute {
  return { key, value: { stringValue: value } };
}

function whole(key: string, value: number): Attribute {
  return { key, value: { intValue: String(value) } };
}
