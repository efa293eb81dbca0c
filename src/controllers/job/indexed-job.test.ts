import { afterEach, describe, expect, it } from "vitest";
import { COMPLETION_INDEX, INDEX_FAILURES, indexOfPod, isTracked } from "./job-pod.ts";
import { container, job, jobsAtWork, template } from "./testing/index.ts";

const { closeAll, cluster } = jobsAtWork();
afterEach(closeAll);

describe("an Indexed Job", () => {
  it("has one Pod for each index, which knows it", async () => {
    const { jobs, settle, live, report, ofIndex, status, pods } = await cluster();
    const containers = [container, { name: "own", image: "i", env: [{ name: "JOB_COMPLETION_INDEX", value: "x" }] }];
    await jobs.create(
      job({
        completionMode: "Indexed",
        parallelism: 3,
        completions: 5,
        template: { spec: { ...template.spec, containers } },
      }),
    );
    await settle();
    expect((await live()).map(indexOfPod).sort()).toEqual([0, 1, 2]);
    const one = await ofIndex(1);
    expect(one.metadata).toMatchObject({
      name: expect.stringMatching(/^work-1-[a-z0-9]{5}$/),
      labels: { [COMPLETION_INDEX]: "1" },
      annotations: { [COMPLETION_INDEX]: "1" },
    });
    expect(one.spec?.hostname).toBe("work-1");
    expect(one.spec?.containers.map(({ env }) => env)).toMatchObject([
      [
        {
          name: "JOB_COMPLETION_INDEX",
          valueFrom: { fieldRef: { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } },
        },
      ],
      [{ name: "JOB_COMPLETION_INDEX", value: "x" }],
    ]);
    for (const [index, completedIndexes] of [
      [2, "2"],
      [0, "0,2"],
      [1, "0-2"],
      [4, "0-2,4"],
      [3, "0-4"],
    ] as const) {
      await report(await ofIndex(index), "Succeeded");
      await settle();
      expect(await status()).toMatchObject({ completedIndexes });
    }
    expect(await status()).toMatchObject({ succeeded: 5, completionTime: expect.any(String) });
    expect((await pods()).some(isTracked)).toBe(false);
  });

  it("gives up an index that fails too often, and fails when all others are done", async () => {
    const { jobs, settle, live, report, ofIndex, status, conditions, clock } = await cluster();
    await jobs.create(job({ completionMode: "Indexed", parallelism: 2, completions: 2, backoffLimitPerIndex: 1 }));
    await settle();
    expect((await ofIndex(0)).metadata.annotations).toMatchObject({ [INDEX_FAILURES]: "0" });
    await report(await ofIndex(0), "Failed");
    await settle();
    expect((await live()).map(indexOfPod)).toEqual([1]);
    await clock.advance(10_000);
    expect((await ofIndex(0)).metadata.annotations).toMatchObject({ [INDEX_FAILURES]: "1" });
    expect(await status()).toMatchObject({ failed: 1, failedIndexes: "" });
    await report(await ofIndex(0), "Failed");
    await settle();
    expect(await status()).toMatchObject({ failed: 2, failedIndexes: "0", active: 1 });
    await clock.advance(3600_000);
    expect((await live()).map(indexOfPod)).toEqual([1]);
    await report(await ofIndex(1), "Succeeded");
    await settle();
    expect(await conditions()).toEqual(["FailureTarget=True FailedIndexes", "Failed=True FailedIndexes"]);
    expect(await status()).toMatchObject({ succeeded: 1, failed: 2, completedIndexes: "1", failedIndexes: "0" });
  });

  it("fails when too many indexes have", async () => {
    const { jobs, settle, report, ofIndex, status, conditions, pods } = await cluster();
    await jobs.create(
      job({ completionMode: "Indexed", parallelism: 5, completions: 5, backoffLimitPerIndex: 0, maxFailedIndexes: 1 }),
    );
    await settle();
    await report(await ofIndex(3), "Failed");
    await settle();
    expect(await conditions()).toEqual([]);
    await report(await ofIndex(1), "Failed");
    await settle();
    expect(await conditions()).toEqual([
      "FailureTarget=True MaxFailedIndexesExceeded",
      "Failed=True MaxFailedIndexesExceeded",
    ]);
    expect(await status()).toMatchObject({ failedIndexes: "1,3", failed: 5 });
    expect((await pods()).some(isTracked)).toBe(false);
  });

  it.each([
    { name: "enough of some indexes", rules: [{ succeededIndexes: "1-3", succeededCount: 2 }], done: [1, 3], at: 0 },
    { name: "all of some indexes", rules: [{ succeededCount: 4 }, { succeededIndexes: "0,2" }], done: [0, 2], at: 1 },
    { name: "enough of any", rules: [{ succeededCount: 2 }], done: [4, 0], at: 0 },
  ])("is done by its own measure: $name", async ({ rules, done, at }) => {
    const { jobs, settle, live, report, ofIndex, status, conditions, pods } = await cluster();
    await jobs.create(job({ completionMode: "Indexed", parallelism: 5, completions: 5, successPolicy: { rules } }));
    await settle();
    for (const index of done) {
      expect(await conditions()).toEqual([]);
      await report(await ofIndex(index), "Succeeded");
      await settle();
    }
    expect(await conditions()).toEqual(["SuccessCriteriaMet=True SuccessPolicy", "Complete=True SuccessPolicy"]);
    expect((await status()).conditions?.[0]?.message).toBe(`Matched rules at index ${at}`);
    expect(await status()).toMatchObject({ succeeded: 2, terminating: 0 });
    expect((await status()).failed).toBeUndefined();
    expect(await live()).toEqual([]);
    expect((await pods()).some(isTracked)).toBe(false);
  });

  it("can be made smaller and larger", async () => {
    const { jobs, settle, live, reportAll, status, conditions } = await cluster();
    await jobs.create(job({ completionMode: "Indexed", parallelism: 3, completions: 3 }));
    await settle();
    for (const count of [5, 2]) {
      await jobs.patch("work", { type: "merge", object: { spec: { parallelism: count, completions: count } } });
      await settle();
      expect((await live()).map(indexOfPod).sort()).toEqual(Array.from({ length: count }, (_, index) => index));
    }
    await reportAll("Succeeded");
    await settle();
    expect(await status()).toMatchObject({ succeeded: 2, completedIndexes: "0,1" });
    expect(await conditions()).toContain("Complete=True CompletionsReached");
  });
});
