import { afterEach, describe, expect, it } from "vitest";
import { type batch, kinds } from "#api";
import { testControllers } from "../testing/index.ts";
import { planExpiry, ttlAfterFinished } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const TIME = "2030-01-01T00:00:00Z";
const NOW = Date.parse(TIME);
const spec = { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } } as const;
const ended = (type: "Complete" | "Failed"): batch.JobStatus => {
  const times = { lastProbeTime: TIME, lastTransitionTime: TIME };
  const announced = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
  return {
    startTime: TIME,
    ...(type === "Complete" && { completionTime: TIME }),
    conditions: [announced, type].map((each) => ({ type: each, status: "True", ...times })),
  };
};

describe("when a finished Job goes", () => {
  it.each([
    { name: "one that goes on", job: { spec: { ...spec, ttlSecondsAfterFinished: 0 } }, want: undefined },
    { name: "one that may stay", job: { spec, status: ended("Complete") }, want: undefined },
    {
      name: "one whose time has not come",
      job: { spec: { ...spec, ttlSecondsAfterFinished: 60 }, status: ended("Complete") },
      want: { againAfterMs: 60_000 },
    },
    {
      name: "one that has succeeded",
      job: { spec: { ...spec, ttlSecondsAfterFinished: 0 }, status: ended("Complete") },
      want: { steps: [[{ verb: "delete", propagationPolicy: "Foreground", unchanged: true }]] },
    },
    {
      name: "one that has failed",
      job: { spec: { ...spec, ttlSecondsAfterFinished: 0 }, status: ended("Failed") },
      want: { steps: [[{ verb: "delete" }]] },
    },
  ])("$name", ({ job, want }) => {
    const plan = planExpiry({ metadata: { name: "work" }, ...job }, NOW);
    if (want === undefined) expect(plan).toBeUndefined();
    else expect(plan).toMatchObject(want);
  });

  it("goes when its time has come, also if that was changed", async () => {
    const running = await testControllers([ttlAfterFinished]);
    open.push(() => running.close());
    const { client, clock, settle, writes } = running;
    await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
    const jobs = client.of(kinds.Job).in("default");
    const names = async () => (await jobs.list()).items.map(({ metadata }) => metadata.name);
    for (const name of ["early", "late", "kept"]) {
      const ttl = name === "kept" ? {} : { ttlSecondsAfterFinished: 100 };
      const job = await jobs.create({ metadata: { name, namespace: "default" }, spec: { ...spec, ...ttl } });
      await jobs.updateStatus({ ...job, status: ended("Complete") });
    }
    await jobs.patch("late", { type: "merge", object: { spec: { ttlSecondsAfterFinished: 200 } } });
    await settle();
    await clock.advance(99_999);
    expect([await names(), writes()]).toEqual([["early", "kept", "late"], 0]);
    await clock.advance(1);
    // Its dependents go first: what is deleted in the foreground waits for the garbage collector.
    expect((await jobs.get("early")).metadata).toMatchObject({
      deletionTimestamp: expect.any(String),
      finalizers: ["foregroundDeletion"],
    });
    expect((await jobs.get("late")).metadata.deletionTimestamp).toBeUndefined();
    await clock.advance(100_000);
    expect((await jobs.get("late")).metadata.deletionTimestamp).toBeDefined();
    await clock.advance(3600_000);
    expect(writes()).toBe(2);
  });
});
