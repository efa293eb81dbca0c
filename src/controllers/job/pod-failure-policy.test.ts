import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { INDEX_FAILURES, INDEX_IGNORED_FAILURES, indexOfPod, isTracked } from "./job-pod.ts";
import { type Cluster, job, jobsAtWork } from "./testing/index.ts";

const { closeAll, cluster } = jobsAtWork();
afterEach(closeAll);

describe("a policy for failed Pods", () => {
  const onExitCodes = { operator: "In", values: [42] } as const;
  const onPodConditions = [{ type: "DisruptionTarget", status: "True" }] as const;
  const disrupt = async ({ client }: Pick<Cluster, "client">, pod: core.Pod) => {
    const conditions = [{ type: "DisruptionTarget", status: "True" as const }];
    return client.of(kinds.Pod).updateStatus({ ...pod, status: { ...pod.status, conditions } });
  };

  it("can fail the Job at once", async () => {
    const { jobs, settle, live, report, status, conditions } = await cluster();
    await jobs.create(
      job({ podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes }] }, parallelism: 2, completions: 2 }),
    );
    await settle();
    const [first] = await live();
    if (first === undefined) throw new Error("a Pod runs");
    await report(first, "Failed", 42);
    await settle();
    expect((await conditions())[0]).toBe("FailureTarget=True PodFailurePolicy");
    expect((await status()).conditions?.[0]?.message).toBe(
      `Container c for pod default/${first.metadata.name} failed with exit code 42 matching FailJob rule at index 0`,
    );
    expect(await live()).toEqual([]);
  });

  it("can leave a failure uncounted", async () => {
    const running = await cluster();
    const { jobs, settle, live, report, status, conditions, clock, pods } = running;
    await jobs.create(job({ podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions }] }, backoffLimit: 0 }));
    await settle();
    const [first] = await live();
    if (first === undefined) throw new Error("a Pod runs");
    await report(await disrupt(running, first), "Failed", 137);
    await settle();
    expect(await conditions()).toEqual([]);
    expect((await status()).failed).toBeUndefined();
    await clock.advance(10_000);
    expect(await live()).toHaveLength(1);
    expect((await pods()).filter(isTracked)).toHaveLength(1);
  });

  it("can count it towards the limit though a later rule would not", async () => {
    const { jobs, settle, reportAll, conditions } = await cluster();
    const rules = [
      { action: "Count", onExitCodes },
      { action: "Ignore", onExitCodes: { operator: "NotIn", values: [1] } },
    ] as const;
    await jobs.create(job({ podFailurePolicy: { rules }, backoffLimit: 0 }));
    await settle();
    await reportAll("Failed", 42);
    await settle();
    expect(await conditions()).toContain("Failed=True BackoffLimitExceeded");
  });

  it("can give up the index", async () => {
    const { jobs, settle, report, ofIndex, live, status } = await cluster();
    await jobs.create(
      job({
        completionMode: "Indexed",
        parallelism: 2,
        completions: 2,
        backoffLimitPerIndex: 6,
        podFailurePolicy: { rules: [{ action: "FailIndex", onExitCodes }] },
      }),
    );
    await settle();
    await report(await ofIndex(1), "Failed", 42);
    await settle();
    expect(await status()).toMatchObject({ failedIndexes: "1", failed: 1 });
    expect((await live()).map(indexOfPod)).toEqual([0]);
  });

  it("keeps count for each index of what is ignored", async () => {
    const running = await cluster();
    const { jobs, settle, report, ofIndex, clock, status } = running;
    await jobs.create(
      job({
        completionMode: "Indexed",
        parallelism: 1,
        completions: 1,
        backoffLimitPerIndex: 1,
        podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions }] },
      }),
    );
    await settle();
    await report(await disrupt(running, await ofIndex(0)), "Failed");
    await settle();
    await clock.advance(10_000);
    expect((await ofIndex(0)).metadata.annotations).toMatchObject({
      [INDEX_FAILURES]: "0",
      [INDEX_IGNORED_FAILURES]: "1",
    });
    await report(await ofIndex(0), "Failed");
    await settle();
    await clock.advance(20_000);
    expect((await ofIndex(0)).metadata.annotations).toMatchObject({
      [INDEX_FAILURES]: "1",
      [INDEX_IGNORED_FAILURES]: "1",
    });
    expect(await status()).toMatchObject({ failed: 1 });
  });
});
