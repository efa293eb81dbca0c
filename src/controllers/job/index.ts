/**
 * Jobs: Pods that run until enough of them have succeeded.
 *
 * 1. A tracked Pod whose Job is gone, finished or replaced, or that has no Job, is released: nobody will count it. Pods
 *    without a controller are handled under the key `namespace/`.
 * 2. An adopted Pod is tracked from then on; a released one is not.
 */
import { type JsonObject, type KubeObject, kinds, matcherOfSelector, optional } from "#api";
import { objectKey, type RecordedEvent } from "#client";
import { adoption, claim, isStillThere, ownedIndexes, type Pod, release } from "../pods/index.ts";
import {
  type Controller,
  type ControllerContext,
  changesOf,
  controllerKey,
  controllerOf,
  defineController,
  keysFrom,
  type Plan,
  type Write,
} from "../runtime/index.ts";
import { isTracked, letGo, TRACKING } from "./job-pod.ts";
import { isFinishedJob, isManagedElsewhere, type Job } from "./job-view.ts";
import { counting, countTracking, jobMetrics } from "./metrics.ts";
import { JOB_KIND } from "./new-pod.ts";
import { planJob } from "./plan.ts";
import { type GangOf, gangOf } from "./workloads.ts";

const OWNER = { group: "batch", kind: "Job" } as const;

export const jobController = jobControllerWith({ gangs: false });

/** `gangs`: parallel Indexed Jobs get a Workload and a PodGroup. */
export function jobControllerWith({ gangs }: { readonly gangs: boolean }): Controller {
  return defineController({
    name: "job-controller",
    needs: gangs ? [optional.Workload, optional.PodGroup] : [],
    bind({ cache, client, clock, families }) {
      const gang = gangs ? gangFinder(cache) : undefined;
      const metrics = families(jobMetrics);
      const jobs = cache(kinds.Job);
      const pods = cache(kinds.Pod);
      const { byController, withoutController } = ownedIndexes(pods);
      const tracked = pods.index("jobTracked", (pod) => (isTracked(pod) ? ownerKeys(pod) : []));

      /** Jobs that may adopt a Pod without a controller. */
      const interested = (pod: Pod) =>
        jobs
          .inNamespace(pod.metadata.namespace ?? "")
          .filter((job) => !isFinishedJob(job) && selectorOf(job).matches(pod.metadata.labels ?? {}))
          .map(objectKey);

      /** Whether the Pod's Job will never count it. If the cache does not have the Job, the API server is asked. */
      const isStray = async (pod: Pod, job: Job | undefined): Promise<boolean> => {
        const owner = controllerOf(pod);
        if (owner === undefined) return true;
        if (owner.uid === job?.metadata.uid) return isFinishedJob(job);
        const { name, uid } = owner;
        return !(await isStillThere(client, kinds.Job, {
          metadata: { name, namespace: pod.metadata.namespace ?? "", uid },
        }));
      };

      const straysOf = async (key: string, job: Job | undefined): Promise<readonly Pod[]> => {
        const found = tracked(key);
        // Pods of one Job have the same answer: the API server is asked once.
        const byOwner = Map.groupBy(found, (pod) => controllerOf(pod)?.uid);
        const strays: Pod[] = [];
        for (const [first, ...others] of byOwner.values())
          if (first !== undefined && (await isStray(first, job))) strays.push(first, ...others);
        return strays;
      };

      return {
        sources: [
          changesOf(kinds.Job),
          ...(gangs ? [ownersOf(optional.Workload), ownersOf(optional.PodGroup)] : []),
          keysFrom(kinds.Pod, (change) => {
            countTracking(metrics, change);
            const { object, old } = change;
            return [
              ...new Set(
                [object, ...(old === undefined ? [] : [old])].flatMap((pod) =>
                  controllerOf(pod) === undefined
                    ? [...interested(pod), ...(isTracked(pod) ? ownerKeys(pod) : [])]
                    : ownerKeys(pod),
                ),
              ),
            ];
          }),
        ],
        async reconcile(key, now): Promise<Plan | undefined> {
          const job = jobs.get(key);
          if (job !== undefined && isManagedElsewhere(job)) return undefined;
          const strays = (await straysOf(key, job)).map(letGo);
          if (job === undefined || isFinishedJob(job)) return strays.length === 0 ? undefined : { steps: [strays] };
          const { uid = "", namespace = "" } = job.metadata;
          const candidates = [...byController(uid), ...withoutController(namespace)];
          const { owned, adopt, release: leave } = claim(job, selectorOf(job), candidates);
          // The Job is deleted or terminating, which the cache does not show yet: it must not replace lost Pods.
          if (adopt.length > 0 && !(await isStillThere(client, kinds.Job, job)))
            return strays.length === 0 ? undefined : { steps: [strays] };
          // Adoption and release come first; the next run counts.
          if (adopt.length + leave.length + strays.length > 0)
            return {
              steps: [[...adopt.map((pod) => takeIn(pod, job)), ...leave.map((pod) => giveUp(pod, job)), ...strays]],
            };
          const found = gang?.(job, owned.length > 0) ?? ALONE;
          if (found.kind === "missing")
            return {
              steps: [[found.create]],
              eventFor: (_, outcome) =>
                outcome.ok && outcome.object?.kind === "Workload" ? workloadCreated(job, outcome.object) : undefined,
            };
          return counting(
            metrics,
            job,
            planJob(job, owned, now, found.kind === "ready" ? found.podGroupName : undefined),
            clock,
          );
        },
      };
    },
  });
}

const ALONE: GangOf = { kind: "none" };

function gangFinder(cache: ControllerContext["cache"]): (job: Job, hasPods: boolean) => GangOf {
  const workloadsFor = cache(optional.Workload).index("job", ({ metadata, spec: { controllerRef } }) =>
    controllerRef?.apiGroup === "batch" && controllerRef.kind === "Job"
      ? [`${metadata.namespace}/${controllerRef.name}`]
      : [],
  );
  const groupsFor = cache(optional.PodGroup).index("workload", ({ metadata, spec }) => {
    const name = spec.podGroupTemplateRef?.workload?.workloadName;
    return name === undefined ? [] : [`${metadata.namespace}/${name}`];
  });
  return (job, hasPods) =>
    gangOf(job, hasPods, {
      workloads: workloadsFor(objectKey(job)),
      groupsOf: (name) => groupsFor(`${job.metadata.namespace}/${name}`),
    });
}

/** The Jobs that control these objects. */
function ownersOf(resource: typeof optional.Workload | typeof optional.PodGroup) {
  return keysFrom(resource as typeof optional.Workload, ({ object }) => {
    const key = controllerKey(object, OWNER);
    return key === undefined ? [] : [key];
  });
}

function workloadCreated(job: Job, { metadata }: KubeObject): RecordedEvent {
  const note = `Created Workload ${metadata.name} for Job ${job.metadata.name}`;
  return { about: job, type: "Normal", reason: "WorkloadCreated", note };
}

function selectorOf({ spec }: Job) {
  return matcherOfSelector(spec?.selector);
}

function ownerKeys(pod: KubeObject): readonly string[] {
  if (controllerOf(pod) === undefined) return [`${pod.metadata.namespace}/`];
  const key = controllerKey(pod, OWNER);
  return key === undefined ? [] : [key];
}

function takeIn(pod: Pod, job: Job): Write {
  return withMetadata(adoption(kinds.Pod, pod, job, JOB_KIND), { finalizers: [TRACKING] });
}

function giveUp(pod: Pod, job: Job): Write {
  return withMetadata(release(kinds.Pod, pod, job), { "$deleteFromPrimitiveList/finalizers": [TRACKING] });
}

function withMetadata(write: Write, more: JsonObject): Write {
  if (write.verb !== "patch") return write;
  const { metadata } = write.patch;
  return { ...write, patch: { ...write.patch, metadata: { ...(metadata as JsonObject), ...more } } };
}
