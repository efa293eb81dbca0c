import { describe, expect, it } from "vitest";
import type { FlowRecord } from "../record/record.ts";
import { rollout, Story } from "../testing/records.ts";
import { LiveTrace } from "./live-trace.ts";
import { type Question, trace } from "./trace.ts";

const WEB = { resource: "apps/deployments", namespace: "default", name: "web" };

function told(records: readonly FlowRecord[]): string[] {
  return records.map((record) => (record.type === "work" ? record.id : `${record.type} ${record.name}`));
}

describe("the trace of an object", () => {
  it("goes down to all that followed, and nothing else", () => {
    const { records, missing } = trace(rollout().records, { object: WEB });
    expect(told(records)).toEqual([
      "request web",
      "d1",
      "request web-6f7c",
      "r1",
      "request web-6f7c-bcdfg",
      "request web-6f7c-hjklm",
      "s0",
      "request web-6f7c-bcdfg",
      "s1",
      "request web-6f7c-hjklm",
    ]);
    expect(missing).toBe(0);
  });

  it("goes down as deep as asked", () => {
    const { records } = trace(rollout().records, { object: WEB, depth: 1 });
    expect(told(records)).toEqual(["request web", "d1", "request web-6f7c"]);
  });

  it("counts depth from the beginning: what comes back to the object is none", () => {
    const story = rollout()
      .work({ id: "d2", actor: "deployment-controller", woken: [20] })
      .request({ resource: "apps/deployments", name: "web", subresource: "status", revision: 30, cause: "d2" })
      .work({ id: "late", actor: "someone", woken: [30] })
      .request({ name: "late", revision: 31, cause: "late" });
    const { records } = trace(story.records, { object: WEB, depth: 1 });
    expect(told(records)).toEqual(["request web", "d1", "request web-6f7c"]);
    expect(told(trace(story.records, { object: WEB }).records)).toContain("request late");
  });

  it("goes up to where it began, without what happened beside it", () => {
    const object = { resource: "pods", namespace: "default", name: "web-6f7c-hjklm" };
    const { records } = trace(rollout().records, { object });
    expect(told(records)).toEqual([
      "request web",
      "d1",
      "request web-6f7c",
      "r1",
      "request web-6f7c-hjklm",
      "s1",
      "request web-6f7c-hjklm",
    ]);
  });

  it("is about the last object of its name, not about earlier ones", () => {
    const story = rollout()
      .request({ resource: "apps/deployments", name: "web", verb: "delete", revision: 50, change: "DELETED" })
      .request({ resource: "apps/deployments", name: "web", revision: 60, uid: "second" })
      .work({ id: "d9", actor: "deployment-controller", woken: [60] })
      .request({ resource: "apps/replicasets", name: "web-2", revision: 61, cause: "d9" });
    expect(told(trace(story.records, { object: WEB }).records)).toEqual(["request web", "d9", "request web-2"]);
  });

  it("of one request is that request and what followed", () => {
    const { records } = rollout().request({
      resource: "apps/deployments",
      name: "web",
      verb: "patch",
      revision: 70,
      change: "MODIFIED",
    });
    const request = records.at(-1);
    if (request?.type !== "request") throw new Error("the last record is a request");
    expect(told(trace(records, { request }).records)).toEqual(["request web"]);
  });

  it("has what time alone woke about the object, and what followed", () => {
    const object = { resource: "autoscaling/horizontalpodautoscalers", namespace: "default", name: "web" };
    const about = { about: "default/web", resource: object.resource };
    const story = new Story()
      .work({ id: "look", actor: "hpa", woken: [], ...about })
      .request({ resource: "apps/deployments", name: "web", subresource: "scale", revision: 10, cause: "look" })
      .work({ id: "d1", actor: "deployment-controller", woken: [10] })
      .request({ resource: "apps/replicasets", name: "web-1", revision: 11, cause: "d1" })
      .work({ id: "other", actor: "hpa", woken: [], ...about, about: "default/other" })
      .request({ resource: "apps/deployments", name: "other", revision: 12, cause: "other" })
      .work({ id: "idle", actor: "hpa", woken: [], ...about });
    const all = ["look", "request web", "d1", "request web-1"];
    expect(told(trace(story.records, { object }).records)).toEqual(all);
    expect(told(trace(story.records, { object, depth: 1 }).records)).toEqual(["look", "request web"]);
    expect(told(trace(story.records, { object, depth: 0 }).records)).toEqual([]);
    const following = new LiveTrace({ object });
    const live = story.records.flatMap((record) => following.take(record));
    expect(told(live).filter((each) => each !== "idle")).toEqual(all);
  });

  it("counts causes that were pushed out, and guesses none", () => {
    const { records, missing } = trace(rollout().records.slice(3), {
      object: { resource: "apps/replicasets", namespace: "default", name: "web-6f7c" },
    });
    expect(told(records)[0]).toBe("request web-6f7c");
    expect(missing).toBe(1);
  });

  it("of what was never seen is empty", () => {
    expect(trace(rollout().records, { object: { ...WEB, name: "ghost" } })).toEqual({ records: [], missing: 0 });
  });

  it("leaves out reads unless asked for", () => {
    const { records } = new Story().request({ verb: "get", status: 200 }).request({ revision: 1 });
    expect(trace(records, {}).records).toHaveLength(1);
    expect(trace(records, { reads: true }).records).toHaveLength(2);
  });

  it("puts a work whose clock is wrong between what woke it and what it sent", () => {
    const { records } = new Story()
      .request({ name: "a", revision: 1, at: 1000 })
      .work({ id: "w", woken: [1], at: 500_000, foreignClock: true })
      .request({ name: "b", revision: 2, cause: "w", at: 1010 });
    const object = { resource: "pods", namespace: "default", name: "a" };
    expect(told(trace(records, { object }).records)).toEqual(["request a", "w", "request b"]);
  });

  it("of everything has works that only called others", () => {
    const call = { to: "kernel", what: "rules", afterMs: 0, tookMs: 1 };
    const story = new Story()
      .request({ revision: 1 })
      .work({ id: "p", actor: "policy/n1", woken: [1], calls: [call] })
      .work({ id: "idle", woken: [1] });
    const ids = (question: Question) =>
      trace(story.records, question).records.flatMap((record) => (record.type === "work" ? [record.id] : []));
    expect(ids({})).toEqual(["p"]);
    expect(ids({ object: { resource: "pods", namespace: "default", name: "x" } })).toEqual(["p"]);
  });
});
