import { describe, expect, it } from "vitest";
import type { RequestRecord } from "#flows";
import { beginnings, FlowRecords, flowDiagram } from "./flow-records.ts";

const request = (seq: number, more: Partial<RequestRecord> = {}): RequestRecord => ({
  type: "request",
  seq,
  at: seq,
  actor: "kubectl",
  user: "jane",
  verb: "create",
  resource: "pods",
  subresource: "",
  namespace: "default",
  name: `p${seq}`,
  status: 201,
  tookMs: 1,
  written: { revision: seq, change: "ADDED", uid: String(seq), at: seq },
  ...more,
});
const lease = request(3, { resource: "coordination.k8s.io/leases", user: "system:node:n1", actor: "kubelet/n1" });

describe("flow records", () => {
  const live = (recorder: string) => ({ type: "live", recorder }) as const;
  const numbers = (records: FlowRecords) => records.all.map(({ seq }) => seq);

  it("come in any order, each once", () => {
    const records = new FlowRecords();
    records.begin();
    expect(records.add([request(2), request(3)])).toBe(false);
    expect(records.add([live("a")])).toBe(true);
    expect(records.add([request(1), request(2)])).toBe(true);
    expect(records.add([request(1)])).toBe(false);
    expect(numbers(records)).toEqual([1, 2, 3]);
    expect(records.last).toBe("a-3");
  });

  it("go on after an interruption, or begin anew with their recorder", () => {
    const records = new FlowRecords();
    records.begin();
    records.add([request(1), live("a")]);
    records.begin();
    records.add([request(2), live("a")]);
    expect(numbers(records)).toEqual([1, 2]);
    records.begin();
    records.add([request(1), live("b")]);
    expect(numbers(records)).toEqual([1]);
    expect(records.last).toBe("b-1");
  });

  it("draw one object's flow, or everything but the background", () => {
    const all = [request(1), request(2), lease];
    const names = (question: object) =>
      flowDiagram(all, { only: [], fold: false, background: false, ...question })
        .lines.filter(({ arrow }) => arrow === "persisted")
        .map(({ text }) => text);
    expect(names({})).toEqual(["p1 @1", "p2 @2"]);
    expect(names({ background: true })).toEqual(["p1 @1", "p2 @2", "p3 @3"]);
    expect(names({ object: { resource: "pods", namespace: "default", name: "p2" } })).toEqual(["p2 @2"]);
    expect(names({ only: ["kubelet/n1"] })).toEqual([]);
  });

  it("begin with what somebody asked for", () => {
    const all = [
      request(1),
      request(4, { cause: "w" }),
      lease,
      request(5, { name: "p1" }),
      request(6, { user: "system:kube-scheduler" }),
    ];
    expect(beginnings(all).map(({ seq }) => seq)).toEqual([5]);
  });
});
