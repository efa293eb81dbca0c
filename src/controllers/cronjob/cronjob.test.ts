import { afterEach, describe, expect, it } from "vitest";
import { type batch, kinds, StatusError } from "#api";
import { seededRandom } from "#base";
import { testControllers } from "../testing/index.ts";
import { cronJobController } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const MINUTE = 60_000;
/** The minutes between 1970 and the beginning of a test. */
const FIRST = Date.UTC(2030, 0, 1) / MINUTE;
const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } as const;
const cronJob = (spec: Partial<batch.CronJobSpec> = {}): batch.CronJob => ({
  metadata: { name: "tick", namespace: "default" },
  spec: {
    schedule: "* * * * *",
    jobTemplate: { metadata: { labels: { a: "b" }, annotations: { c: "d" } }, spec: { template } },
    ...spec,
  },
});

type Cluster = Awaited<ReturnType<typeof testControllers>>;

function looksAt({ client, clock }: Pick<Cluster, "client" | "clock">) {
  const jobs = client.of(kinds.Job).in("default");
  const names = async () =>
    (await jobs.list()).items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => Number(metadata.name?.split("-").at(-1)) - FIRST)
      .sort((a, b) => a - b);
  return {
    jobs,
    crons: client.of(kinds.CronJob).in("default"),
    /** For which minutes there are Jobs. */
    names,
    finish: async (minute: number, type: "Complete" | "Failed" = "Complete") => {
      const job = await jobs.get(`tick-${FIRST + minute}`);
      const time = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
      const conditions = [type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget", type].map((each) => ({
        type: each,
        status: "True",
        lastProbeTime: time,
        lastTransitionTime: time,
      }));
      const startTime = job.status?.startTime ?? time;
      await jobs.updateStatus({
        ...job,
        status: { startTime, conditions, ...(type === "Complete" && { completionTime: time }) },
      });
    },
    status: async () => (await client.of(kinds.CronJob).in("default").get("tick")).status ?? {},
    active: async () =>
      ((await client.of(kinds.CronJob).in("default").get("tick")).status?.active ?? []).map(
        ({ name }) => Number(name?.split("-").at(-1)) - FIRST,
      ),
    events: async () =>
      (await client.of(kinds.Event).list()).items.map(({ type, reason, note }) => `${type} ${reason}: ${note}`),
  };
}

async function cluster() {
  const running = await testControllers([cronJobController]);
  open.push(() => running.close());
  await running.client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  return { ...running, ...looksAt(running) };
}

describe("a CronJob", () => {
  it("makes a Job for each time of its schedule", async () => {
    const { crons, clock, settle, names, jobs, status, active, finish, events } = await cluster();
    await crons.create(cronJob());
    await settle();
    expect(await names()).toEqual([]);
    await clock.advance(MINUTE);
    expect(await names()).toEqual([1]);
    const job = await jobs.get(`tick-${FIRST + 1}`);
    expect(job.metadata).toMatchObject({
      labels: { a: "b" },
      annotations: { c: "d", "batch.kubernetes.io/cronjob-scheduled-timestamp": "2030-01-01T00:01:00Z" },
      ownerReferences: [
        { apiVersion: "batch/v1", kind: "CronJob", name: "tick", controller: true, blockOwnerDeletion: true },
      ],
    });
    expect(await status()).toMatchObject({
      lastScheduleTime: "2030-01-01T00:01:00Z",
      active: [{ kind: "Job", apiVersion: "batch/v1", name: job.metadata.name, uid: job.metadata.uid }],
    });
    await finish(1);
    await settle();
    expect(await status()).toEqual({
      lastScheduleTime: "2030-01-01T00:01:00Z",
      lastSuccessfulTime: "2030-01-01T00:01:00Z",
    });
    await clock.advance(2 * MINUTE);
    expect(await names()).toEqual([1, 2, 3]);
    expect(await active()).toEqual([2, 3]);
    expect(await events()).toEqual(
      expect.arrayContaining([
        `Normal SuccessfulCreate: Created job tick-${FIRST + 1}`,
        `Normal SawCompletedJob: Saw completed job: tick-${FIRST + 1}, condition: Complete`,
      ]),
    );
  });

  it("starts none beside another where it must not", async () => {
    const { crons, clock, settle, names, active, finish, events } = await cluster();
    await crons.create(cronJob({ concurrencyPolicy: "Forbid" }));
    await clock.advance(3.5 * MINUTE);
    expect([await names(), await active()]).toEqual([[1], [1]]);
    expect(await events()).toContain(
      "Normal JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid",
    );
    // The latest time that was missed is made up for.
    await finish(1);
    await settle();
    expect([await names(), await active()]).toEqual([[1, 3], [3]]);
  });

  it("replaces one that still runs where it should", async () => {
    const { crons, clock, names, active, events } = await cluster();
    await crons.create(cronJob({ concurrencyPolicy: "Replace" }));
    await clock.advance(3.5 * MINUTE);
    expect([await names(), await active()]).toEqual([[3], [3]]);
    expect(await events()).toContain(`Normal SuccessfulDelete: Deleted job tick-${FIRST + 2}`);
    expect((await events()).filter((event) => event.includes("MissingJob"))).toEqual([]);
  });

  it("waits while it is suspended, and makes up for the last time only", async () => {
    const { crons, clock, settle, names } = await cluster();
    await crons.create(cronJob({ suspend: true }));
    await clock.advance(10 * MINUTE);
    expect(await names()).toEqual([]);
    await crons.patch("tick", { type: "merge", object: { spec: { suspend: false } } });
    await settle();
    expect(await names()).toEqual([10]);
  });

  it("does not start what is too late", async () => {
    const { crons, clock, settle, names } = await cluster();
    await crons.create(cronJob({ schedule: "0 * * * *", suspend: true, startingDeadlineSeconds: 100 }));
    await clock.advance(65 * MINUTE);
    await crons.patch("tick", { type: "merge", object: { spec: { suspend: false } } });
    await settle();
    expect(await names()).toEqual([]);
    await clock.advance(55 * MINUTE);
    expect(await names()).toEqual([120]);
  });

  it("event when too many times were missed, and starts the last of them", async () => {
    const { crons, clock, settle, names, events } = await cluster();
    await crons.create(cronJob({ suspend: true }));
    await clock.advance(102 * MINUTE);
    await crons.patch("tick", { type: "merge", object: { spec: { suspend: false } } });
    await settle();
    expect(await names()).toEqual([102]);
    expect(await events()).toContain(
      "Warning TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
    );
  });

  it("keeps as many finished Jobs as it is asked to", async () => {
    const { crons, clock, settle, names, finish } = await cluster();
    await crons.create(cronJob({ successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 }));
    for (let minute = 1; minute <= 8; minute++) {
      await clock.advance(MINUTE);
      await finish(minute, minute % 3 === 0 ? "Failed" : "Complete");
      await settle();
    }
    expect(await names()).toEqual([6, 7, 8]);
    await crons.patch("tick", {
      type: "merge",
      object: { spec: { successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0, suspend: true } },
    });
    await settle();
    expect(await names()).toEqual([]);
  });

  it("follows the clocks of its time zone", async () => {
    const { crons, clock, jobs } = await cluster();
    await crons.create(cronJob({ schedule: "0 9 * * *", timeZone: "America/New_York" }));
    await clock.advance(14 * 60 * MINUTE - 1);
    expect((await jobs.list()).items).toEqual([]);
    await clock.advance(1);
    expect((await jobs.list()).items[0]?.metadata.annotations).toMatchObject({
      "batch.kubernetes.io/cronjob-scheduled-timestamp": "2030-01-01T09:00:00-05:00",
    });
  });

  it("counts distances from the last time", async () => {
    const { crons, clock, names } = await cluster();
    await crons.create(cronJob({ schedule: "@every 90m" }));
    await clock.advance(300 * MINUTE);
    expect(await names()).toEqual([90, 180, 270]);
  });

  it("meets two times within a minute with one Job", async () => {
    const { crons, clock, names, writes } = await cluster();
    await crons.create(cronJob({ schedule: "@every 30s" }));
    await clock.advance(2.9 * MINUTE);
    expect(await names()).toEqual([0, 1, 2]);
    expect(writes()).toBeLessThan(20);
  });

  it("leaves a name to whoever has it", async () => {
    const { crons, clock, jobs, status } = await cluster();
    await jobs.create({ metadata: { name: `tick-${FIRST + 1}`, namespace: "default" }, spec: { template } });
    await crons.create(cronJob());
    await clock.advance(1.5 * MINUTE);
    expect(await status()).toEqual({});
    await clock.advance(MINUTE);
    expect(await status()).toMatchObject({ lastScheduleTime: "2030-01-01T00:02:00Z" });
  });

  it("notices Jobs that vanish, and those that it did not make", async () => {
    const { crons, clock, settle, jobs, active, events } = await cluster();
    const { metadata } = await crons.create(cronJob());
    await clock.advance(MINUTE);
    await jobs.delete(`tick-${FIRST + 1}`, { propagationPolicy: "Background" });
    await settle();
    expect(await active()).toEqual([]);
    const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid: metadata.uid ?? "", controller: true };
    await jobs.create({
      metadata: { name: "by-hand", namespace: "default", ownerReferences: [owner] },
      spec: { template },
    });
    await settle();
    expect(await active()).toEqual([]);
    expect(await events()).toEqual(
      expect.arrayContaining([
        `Normal MissingJob: Active job went missing: tick-${FIRST + 1}`,
        "Warning UnexpectedJob: Saw a job that the controller did not create or forgot: by-hand",
      ]),
    );
  });

  it("event of a schedule that is never due, and rests", async () => {
    const { crons, clock, settle, events, writes } = await cluster();
    await crons.create(cronJob({ schedule: "0 0 30 2 *" }));
    await settle();
    expect(await events()).toEqual([
      "Warning InvalidSchedule: invalid schedule: 0 0 30 2 * : time difference between two schedules is less than 1 second",
    ]);
    const before = writes();
    await clock.advance(24 * 60 * MINUTE);
    expect(writes()).toBe(before);
  });

  it("writes nothing between two times", async () => {
    const { crons, clock, settle, finish, writes } = await cluster();
    await crons.create(cronJob({ schedule: "1 * * * *" }));
    await clock.advance(MINUTE);
    await finish(1);
    await settle();
    const before = writes();
    await clock.advance(59 * MINUTE);
    expect(writes()).toBe(before);
  });

  it("makes each Job once, whichever write its controller is stopped at", async () => {
    let writes = 0;
    let limit = 1;
    for (; writes >= limit - 1; limit++) {
      writes = 0;
      const first = await cluster();
      let current: Cluster = first;
      let stopped: Promise<void> | undefined;
      first.refuse(({ method, path }) => {
        if (method !== "GET" && !path.includes("/events") && ++writes === limit) stopped = first.stop();
        return undefined;
      });
      const settle = async () => {
        await current.settle();
        if (stopped === undefined) return;
        await stopped;
        stopped = undefined;
        current = await testControllers([cronJobController], { server: first.server });
        open.push(() => current.close());
        await current.settle();
      };
      const made: string[] = [];
      const watched = new Set<string>();
      await first.crons.create(cronJob({ successfulJobsHistoryLimit: 0, concurrencyPolicy: "Replace" }));
      for (let minute = 1; minute <= 4; minute++) {
        await first.clock.advance(MINUTE);
        await settle();
        for (const { metadata } of (await first.jobs.list()).items) {
          if (watched.has(metadata.uid ?? "")) continue;
          watched.add(metadata.uid ?? "");
          made.push(metadata.name ?? "");
        }
        if (minute % 2 === 0) await first.finish(minute);
        await settle();
      }
      expect(made, `stopped at write ${limit}`).toEqual([1, 2, 3, 4].map((minute) => `tick-${FIRST + minute}`));
      expect(await first.status()).toEqual({
        lastScheduleTime: "2030-01-01T00:04:00Z",
        lastSuccessfulTime: "2030-01-01T00:04:00Z",
      });
      expect(await first.names()).toEqual([]);
      for (const close of open.splice(0).reverse()) await close();
      expect(limit).toBeLessThan(50);
    }
    expect(limit).toBeGreaterThan(10);
  });

  it("gets there though many requests are refused", async () => {
    const { crons, clock, names, active, refuse } = await cluster();
    const random = seededRandom(3);
    const reasons = ["Conflict", "TooManyRequests", "InternalError"] as const;
    refuse(({ method }) => {
      const reason = reasons[random.integer(6)];
      return method !== "GET" && reason !== undefined ? new StatusError(reason, "refused") : undefined;
    });
    await crons.create(cronJob());
    await clock.advance(5.9 * MINUTE);
    expect([await names(), await active()]).toEqual([
      [1, 2, 3, 4, 5],
      [1, 2, 3, 4, 5],
    ]);
  });
});
