import { expect, it } from "vitest";
import type { FlowRecord, RequestRecord, WorkRecord } from "../record/record.ts";
import { otlp } from "../render/otlp.ts";
import { inTrace } from "./in-trace.ts";

const T = "7".repeat(32);
const span = (digit: string) => ({ traceId: T, spanId: digit.repeat(16) });
const about = { resource: "pods", namespace: "default", name: "a" };
const request = (seq: number, more: Partial<RequestRecord> = {}): RequestRecord => ({
  ...{ type: "request", seq, at: seq, ...about, actor: "kubectl", user: "admin", verb: "create", subresource: "" },
  ...{ status: 201, tookMs: 1, written: { revision: 10 + seq, change: "ADDED", uid: "u", at: seq } },
  ...more,
});
const delivery = (seq: number, revision: number): FlowRecord => ({
  ...{ type: "delivery", seq, at: seq, ...about, revision, change: "ADDED", to: ["scheduler"], watchers: 1 },
});
const work: WorkRecord = {
  ...{ type: "work", seq: 3, at: 3, id: "r/1", actor: "scheduler", about: "default/a", woken: [11], tookMs: 1 },
  ...{ decided: "a on n1", calls: [], claimed: false, foreignClock: false, span: span("b") },
};
const records: readonly FlowRecord[] = [
  request(1, { span: span("a") }),
  delivery(2, 11),
  work,
  request(4, { span: span("c"), cause: "r/1" }),
  request(5, { span: { traceId: "8".repeat(32), spanId: "d".repeat(16) } }),
  request(6),
  delivery(7, 16),
];

it("the records of a trace are its requests and works, and the deliveries of their writes", () => {
  expect(inTrace(records, T).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
});

it("they are rendered with the ids that were exported", () => {
  const text = JSON.stringify(otlp(inTrace(records, T)));
  const spans = [...text.matchAll(/"spanId":"(\w+)"(?:,"parentSpanId":"(\w+)")?/g)].map(([, id, parent]) => [
    id,
    parent,
  ]);
  expect(spans).toEqual([
    ["a".repeat(16), undefined],
    ["c".repeat(16), "b".repeat(16)],
    ["b".repeat(16), "a".repeat(16)],
  ]);
  expect(new Set([...text.matchAll(/"traceId":"(\w+)"/g)].map(([, id]) => id))).toEqual(new Set([T]));
});
