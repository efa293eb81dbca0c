/**
 * CronJobs: Jobs at the times of a schedule.
 *
 * 1. A Job in `status.active` counts as deleted only if the API server itself says so: the cache may be stale.
 */
import { type batch, isStatusError, kinds } from "#api";
import { ownedIndexes } from "../pods/index.ts";
import { changesOf, defineController, observed, ownersOf } from "../runtime/index.ts";
import { cronJobMetrics } from "./metrics.ts";
import { scheduledTimeOf } from "./new-job.ts";
import { planCronJob } from "./plan.ts";

export const cronJobController = defineController({
  name: "cronjob-controller",
  bind({ cache, client, families }) {
    const { skew } = families(cronJobMetrics);
    const cronJobs = cache(kinds.CronJob);
    const jobs = cache(kinds.Job);
    const { byController } = ownedIndexes(jobs);

    const isGone = async ({ name = "", namespace = "", uid }: Reference): Promise<boolean> => {
      try {
        return (await client.of(kinds.Job).in(namespace).get(name)).metadata.uid !== uid;
      } catch (error) {
        if (isStatusError(error) && error.reason === "NotFound") return true;
        throw error;
      }
    };

    const goneOf = async ({ status }: batch.CronJob, owned: readonly batch.Job[]): Promise<ReadonlySet<string>> => {
      const there = new Set(owned.map(({ metadata }) => metadata.uid));
      const gone = new Set<string>();
      for (const reference of status?.active ?? []) {
        if (!there.has(reference.uid) && (await isGone(reference))) gone.add(reference.uid ?? "");
      }
      return gone;
    };

    return {
      sources: [changesOf(kinds.CronJob), ownersOf(kinds.Job, { group: "batch", kind: "CronJob" })],
      async reconcile(key, now) {
        const cronJob = cronJobs.get(key);
        if (cronJob === undefined) return undefined;
        const { uid = "", namespace = "" } = cronJob.metadata;
        const owned = byController(uid);
        const isTaken = (name: string) => jobs.get(`${namespace}/${name}`) !== undefined;
        const plan = planCronJob({ cronJob, jobs: owned, gone: await goneOf(cronJob, owned), isTaken, now });
        return observed(plan, ({ verb, object }, outcome) => {
          const at = verb === "create" && outcome.ok ? scheduledTimeOf(cronJob, object as batch.Job) : undefined;
          if (at !== undefined) skew.observe((now - at) / 1000);
        });
      },
    };
  },
});

type Reference = NonNullable<NonNullable<batch.CronJob["status"]>["active"]>[number];
