import { afterEach, describe, expect, it } from "vitest";
import { StatusError } from "#api";
import { seededRandom } from "#base";
import { isTracked } from "./job-pod.ts";
import { type Actions, job, jobsAtWork } from "./testing/index.ts";

const { closeAll, cluster, stoppedAtEach } = jobsAtWork();
afterEach(closeAll);

describe("every Pod counts once", () => {
  const scenarios = [
    { name: "by number", spec: { parallelism: 2, completions: 3 } },
    { name: "by index", spec: { completionMode: "Indexed", parallelism: 2, completions: 3 } },
    {
      name: "by index with limits",
      spec: { completionMode: "Indexed", parallelism: 2, completions: 3, backoffLimitPerIndex: 3 },
    },
  ] as const;

  /**
   * Two failures, then successes, until the Job is finished. Returns how many Pods ended which way while the Job had
   * them.
   */
  async function play(running: Actions) {
    const ended = { succeeded: 0, failed: 0 };
    for (let turn = 0; turn < 20; turn++) {
      await running.settle();
      if ((await running.conditions()).some((condition) => condition.startsWith("Complete=True"))) break;
      const [pod] = (await running.live()).filter(isTracked);
      if (pod === undefined) await running.clock.advance(30_000);
      else if (ended.failed < 2) {
        ended.failed++;
        await running.report(pod, "Failed");
      } else {
        ended.succeeded++;
        await running.report(pod, "Succeeded");
      }
    }
    return ended;
  }

  it.each(scenarios)(
    "$name, whichever write a controller is stopped at",
    async ({ spec }) => {
      await stoppedAtEach(async ({ jobs, status, pods, ...running }) => {
        await jobs.create(job(spec));
        const ended = await play({ jobs, status, pods, ...running });
        expect(await status()).toMatchObject({ ...ended, uncountedTerminatedPods: {} });
        expect(ended.succeeded).toBe(3);
        expect((await pods()).some(isTracked)).toBe(false);
      });
    },
    60_000,
  );

  it.each(scenarios)(
    "$name, though many requests are refused",
    async ({ spec }) => {
      for (const seed of [1, 2, 3, 4]) {
        const running = await cluster();
        const random = seededRandom(seed);
        const reasons = ["Conflict", "TooManyRequests", "InternalError"] as const;
        running.refuse(({ method }) => {
          const reason = reasons[Math.floor(random.next() * 9)];
          return method !== "GET" && reason !== undefined ? new StatusError(reason, "refused") : undefined;
        });
        await running.jobs.create(job(spec));
        const settle = async () => {
          await running.settle();
          await running.clock.advance(5_000);
        };
        const ended = await play({ ...running, settle });
        expect(await running.status()).toMatchObject({ ...ended, uncountedTerminatedPods: {} });
        expect(ended.succeeded).toBe(3);
        await closeAll();
      }
    },
    60_000,
  );
});

describe("a Job comes to its end, whichever write a controller is stopped at", () => {
  it.each([
    {
      name: "by a failure",
      spec: { parallelism: 2, completions: 2, backoffLimit: 0 },
      act: async ({ live, report }: Actions) => {
        const [first] = await live();
        if (first !== undefined) await report(first, "Failed");
      },
      want: { conditions: ["FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"], failed: 2 },
    },
    {
      name: "by a success policy",
      spec: {
        completionMode: "Indexed" as const,
        parallelism: 3,
        completions: 3,
        successPolicy: { rules: [{ succeededCount: 1 }] },
      },
      act: async ({ ofIndex, report }: Actions) => report(await ofIndex(1), "Succeeded"),
      want: { conditions: ["SuccessCriteriaMet=True SuccessPolicy", "Complete=True SuccessPolicy"], succeeded: 1 },
    },
    {
      name: "by being suspended",
      spec: { parallelism: 3, completions: 3 },
      act: async ({ jobs }: Actions) => {
        await jobs.patch("work", { type: "merge", object: { spec: { suspend: true } } });
      },
      want: { conditions: ["Suspended=True JobSuspended"] },
    },
    {
      name: "by being made smaller",
      spec: { completionMode: "Indexed" as const, parallelism: 3, completions: 3 },
      act: async ({ jobs, settle, reportAll }: Actions) => {
        await jobs.patch("work", { type: "merge", object: { spec: { parallelism: 1, completions: 1 } } });
        await settle();
        await reportAll("Succeeded");
      },
      want: {
        conditions: ["SuccessCriteriaMet=True CompletionsReached", "Complete=True CompletionsReached"],
        succeeded: 1,
      },
    },
  ])("$name", async ({ spec, act, want }) => {
    await stoppedAtEach(async (running) => {
      await running.jobs.create(job(spec));
      await running.settle();
      await act(running);
      await running.settle();
      const { succeeded, failed } = await running.status();
      const conditions = await running.conditions();
      expect({ conditions, ...(succeeded && { succeeded }), ...(failed && { failed }) }).toEqual(want);
      expect(await running.live()).toEqual([]);
      expect((await running.pods()).some(isTracked)).toBe(false);
    });
  });
});
