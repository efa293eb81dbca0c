import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, StatusError } from "#api";
import { podWith } from "../testing/index.ts";
import { isTracked, TRACKING } from "./job-pod.ts";
import { job, jobsAtWork, template } from "./testing/index.ts";

const { closeAll, cluster } = jobsAtWork();
afterEach(closeAll);

describe("a Job", () => {
  it("runs as many Pods at once as it may, until enough have succeeded", async () => {
    const { jobs, settle, live, pods, reportAll, status, conditions, events } = await cluster();
    await jobs.create(job({ parallelism: 2, completions: 3 }));
    await settle();
    expect(await live()).toHaveLength(2);
    expect((await pods())[0]?.metadata).toMatchObject({
      name: expect.stringMatching(/^work-[a-z0-9]{5}$/),
      finalizers: [TRACKING],
      labels: { "batch.kubernetes.io/job-name": "work", "job-name": "work" },
      ownerReferences: [
        { apiVersion: "batch/v1", kind: "Job", name: "work", controller: true, blockOwnerDeletion: true },
      ],
    });
    expect(await status()).toEqual({
      startTime: "2030-01-01T00:00:00Z",
      active: 2,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
    });
    await reportAll("Running");
    await settle();
    expect(await status()).toMatchObject({ active: 2, ready: 2 });
    await reportAll("Succeeded");
    await settle();
    expect(await live()).toHaveLength(1);
    expect(await status()).toMatchObject({ active: 1, succeeded: 2, ready: 0, uncountedTerminatedPods: {} });
    await reportAll("Succeeded");
    await settle();
    const time = "2030-01-01T00:00:00Z";
    const why = { reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
    const times = { lastProbeTime: time, lastTransitionTime: time };
    expect(await status()).toEqual({
      startTime: time,
      completionTime: time,
      succeeded: 3,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
      conditions: [
        { type: "SuccessCriteriaMet", status: "True", ...why, ...times },
        { type: "Complete", status: "True", ...why, ...times },
      ],
    });
    expect(await conditions()).toHaveLength(2);
    expect((await pods()).some(isTracked)).toBe(false);
    expect(
      (await events()).filter((event) => event.startsWith("Normal SuccessfulCreate: Created pod: work-")),
    ).toHaveLength(3);
    expect(await events()).toContain("Normal Completed: Job completed");
  });

  it("without a number of completions is done when one has succeeded and the others have ended", async () => {
    const { jobs, settle, live, report, reportAll, status, conditions } = await cluster();
    const { completions: _, ...spec } = job({ parallelism: 3 }).spec ?? { template };
    await jobs.create({ ...job(), spec });
    await settle();
    const [first] = await live();
    if (first !== undefined) await report(first, "Succeeded");
    await settle();
    expect(await live()).toHaveLength(2);
    expect(await conditions()).toEqual([]);
    await reportAll("Succeeded");
    await settle();
    expect(await status()).toMatchObject({ succeeded: 3 });
    expect(await conditions()).toEqual([
      "SuccessCriteriaMet=True CompletionsReached",
      "Complete=True CompletionsReached",
    ]);
  });

  it("replaces what fails, later each time, and gives up after too many", async () => {
    const { jobs, settle, live, reportAll, status, conditions, events, clock } = await cluster();
    await jobs.create(job({ backoffLimit: 2 }));
    await settle();
    for (const [failures, waitMs] of [
      [1, 10_000],
      [2, 20_000],
    ] as const) {
      await reportAll("Failed");
      await settle();
      expect(await status()).toMatchObject({ failed: failures, ready: 0 });
      await clock.advance(waitMs - 1);
      expect(await live()).toHaveLength(0);
      await clock.advance(1);
      expect(await live()).toHaveLength(1);
    }
    await reportAll("Failed");
    await settle();
    expect(await conditions()).toEqual(["FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"]);
    expect(await status()).toMatchObject({ failed: 3, uncountedTerminatedPods: {} });
    expect((await status()).completionTime).toBeUndefined();
    expect(await events()).toContain("Warning BackoffLimitExceeded: Job has reached the specified backoff limit");
  });

  it("that fails deletes what runs, and is declared failed when all of it has gone", async () => {
    const { jobs, settle, live, pods, report, status, conditions, client } = await cluster();
    // On a node, a Pod takes its time to end.
    const onNode = { spec: { ...template.spec, nodeName: "n" } };
    await jobs.create(job({ parallelism: 2, completions: 2, backoffLimit: 0, template: onNode }));
    await settle();
    const [first, second] = await live();
    if (first === undefined || second === undefined) throw new Error("two Pods run");
    await report(second, "Running");
    await report(first, "Failed");
    await settle();
    expect(await conditions()).toEqual(["FailureTarget=True BackoffLimitExceeded"]);
    expect(await status()).toMatchObject({ failed: 2, terminating: 1, uncountedTerminatedPods: {} });
    await client
      .of(kinds.Pod)
      .in("default")
      .delete(second.metadata.name ?? "", { gracePeriodSeconds: 0 });
    await settle();
    expect(await conditions()).toEqual(["FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"]);
    expect(await status()).toMatchObject({ failed: 2, terminating: 0 });
    expect(await pods()).toHaveLength(1);
  });

  it("counts the restarts of containers that are restarted in place", async () => {
    const { jobs, settle, live, conditions, client } = await cluster();
    await jobs.create(job({ backoffLimit: 3, template: { spec: { ...template.spec, restartPolicy: "OnFailure" } } }));
    await settle();
    for (const [restarts, ends] of [
      [2, false],
      [3, true],
    ] as const) {
      for (const pod of await live())
        await client.of(kinds.Pod).updateStatus({ ...pod, ...podWithStatus({ restarts }) });
      await settle();
      expect((await conditions()).includes("Failed=True BackoffLimitExceeded")).toBe(ends);
    }
  });

  it("fails when it has gone on for too long", async () => {
    const { jobs, settle, pods, conditions, events, clock } = await cluster();
    await jobs.create(job({ activeDeadlineSeconds: 100 }));
    await settle();
    await clock.advance(99_000);
    expect(await conditions()).toEqual([]);
    await clock.advance(1_000);
    expect(await conditions()).toEqual(["FailureTarget=True DeadlineExceeded", "Failed=True DeadlineExceeded"]);
    expect(await pods()).toEqual([]);
    expect(await events()).toContain("Warning DeadlineExceeded: Job was active longer than specified deadline");
  });

  it("follows its parallelism up and down; what is sent away is no failure", async () => {
    const { jobs, settle, live, pods, status } = await cluster();
    await jobs.create(job({ parallelism: 1, completions: 10 }));
    await settle();
    for (const parallelism of [5, 2, 0, 3]) {
      await jobs.patch("work", { type: "merge", object: { spec: { parallelism } } });
      await settle();
      expect(await live()).toHaveLength(parallelism);
    }
    expect(await status()).toMatchObject({ active: 3 });
    expect((await status()).failed).toBeUndefined();
    expect(await pods()).toHaveLength(3);
  });

  it("waits while it is suspended", async () => {
    const { jobs, settle, live, conditions, status, events, clock } = await cluster();
    await jobs.create(job({ suspend: true, parallelism: 2, completions: 2, activeDeadlineSeconds: 60 }));
    await settle();
    expect(await live()).toEqual([]);
    expect(await conditions()).toEqual(["Suspended=True JobSuspended"]);
    expect((await status()).startTime).toBeUndefined();
    await jobs.patch("work", { type: "merge", object: { spec: { suspend: false } } });
    await settle();
    expect(await live()).toHaveLength(2);
    expect(await conditions()).toEqual(["Suspended=False JobResumed"]);
    expect((await status()).startTime).toBe("2030-01-01T00:00:00Z");
    await jobs.patch("work", { type: "merge", object: { spec: { suspend: true } } });
    await settle();
    expect(await live()).toEqual([]);
    expect(await conditions()).toEqual(["Suspended=True JobSuspended"]);
    expect((await status()).failed).toBeUndefined();
    await clock.advance(3600_000);
    await jobs.patch("work", { type: "merge", object: { spec: { suspend: false } } });
    await settle();
    expect(await live()).toHaveLength(2);
    expect((await status()).startTime).toBe("2030-01-01T01:00:00Z");
    expect(await conditions()).toEqual(["Suspended=False JobResumed"]);
    expect(await events()).toEqual(
      expect.arrayContaining(["Normal Suspended: Job suspended", "Normal Resumed: Job resumed"]),
    );
  });

  it("takes in Pods that nobody has and lets go of those that no longer fit", async () => {
    const { jobs, settle, pods, live, client } = await cluster();
    await jobs.create(job({ parallelism: 2, completions: 2 }));
    await settle();
    const [first] = await live();
    const name = first?.metadata.name ?? "";
    const own = client.of(kinds.Pod).in("default");
    await own.patch(name, {
      type: "merge",
      object: { metadata: { labels: { "batch.kubernetes.io/controller-uid": "other" } } },
    });
    await settle();
    expect((await own.get(name)).metadata).toMatchObject({ labels: { "job-name": "work" } });
    expect((await own.get(name)).metadata.ownerReferences ?? []).toEqual([]);
    expect((await own.get(name)).metadata.finalizers ?? []).toEqual([]);
    expect(await pods()).toHaveLength(3);
    await own.patch(name, {
      type: "merge",
      object: {
        metadata: { labels: { "batch.kubernetes.io/controller-uid": first?.metadata.ownerReferences?.[0]?.uid ?? "" } },
      },
    });
    await settle();
    const left = await live();
    expect(left).toHaveLength(2);
    expect(left.every(isTracked)).toBe(true);
    expect(left.every(({ metadata }) => metadata.ownerReferences?.length === 1)).toBe(true);
  });

  it("lets its Pods go when it is deleted", async () => {
    const { jobs, settle, pods } = await cluster();
    await jobs.create(job({ parallelism: 2, completions: 2 }));
    await settle();
    await jobs.delete("work", { propagationPolicy: "Background" });
    await settle();
    expect((await pods()).map(({ metadata }) => metadata.finalizers ?? [])).toEqual([[], []]);
  });

  it("is left alone where somebody else manages it", async () => {
    const { jobs, settle, pods, writes } = await cluster();
    await jobs.create(job({ managedBy: "example.com/other" }));
    await settle();
    expect([await pods(), writes()]).toEqual([[], 0]);
  });

  it("tells what it could not do, and does it when it can", async () => {
    const { jobs, settle, live, status, events, clock, refuse } = await cluster();
    refuse(({ method, path }) =>
      method === "POST" && path.endsWith("/pods") ? new StatusError("Forbidden", "exceeded quota") : undefined,
    );
    await jobs.create(job({ parallelism: 3, completions: 3 }));
    await settle();
    expect(await events()).toEqual(["Warning FailedCreate: Error creating: exceeded quota"]);
    expect(await status()).toMatchObject({ startTime: "2030-01-01T00:00:00Z", ready: 0 });
    refuse(() => undefined);
    await clock.advance(60_000);
    expect(await live()).toHaveLength(3);
    expect(await status()).toMatchObject({ active: 3 });
  });

  it("waits for a Pod to end before it replaces it, where it is asked to", async () => {
    const { jobs, settle, live, report, status, client, clock } = await cluster();
    await jobs.create(job({ podReplacementPolicy: "Failed" }));
    await settle();
    const [first] = await live();
    if (first === undefined) throw new Error("a Pod runs");
    const own = client.of(kinds.Pod).in("default");
    await own.delete(first.metadata.name ?? "");
    await settle();
    await clock.advance(60_000);
    expect(await live()).toEqual([]);
    expect(await status()).toMatchObject({ terminating: 1 });
    expect((await status()).failed).toBeUndefined();
    await report(first, "Failed");
    await settle();
    expect(await status()).toMatchObject({ failed: 1, terminating: 0 });
    await clock.advance(10_000);
    expect(await live()).toHaveLength(1);
  });

  it("writes nothing when there is nothing to say", async () => {
    const { jobs, settle, clock, writes, reportAll } = await cluster();
    await jobs.create(job({ parallelism: 3, completions: 3 }));
    await jobs.create(
      job({ completionMode: "Indexed", parallelism: 2, completions: 4, backoffLimitPerIndex: 1 }, "indexed"),
    );
    await jobs.create(job({ suspend: true }, "suspended"));
    await settle();
    await reportAll("Running");
    await settle();
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });
});

function podWithStatus({ restarts }: { restarts: number }): Pick<core.Pod, "status"> {
  const { status } = podWith("any", { restarts });
  return status === undefined ? {} : { status };
}
