/**
 * The next writes of a Job.
 *
 *     counted Pods                    remove their finalizers
 *     the Job has to end              delete active Pods; announce the end, and declare it when nothing is left
 *     the Job continues               create Pods, or delete them if there are too many or the Job is suspended
 *     in any case                     update the status
 *
 * 1. The status is written last, as if all writes succeed; if one failed, it shows only what the caches show, and the
 *    next run continues from there.
 */
import { equalJson, type Json, kinds } from "#api";
import { isEnding, isReady, type Pod } from "../pods/index.ts";
import type { Plan, Write } from "../runtime/index.ts";
import { settlementOf } from "./accounts.ts";
import { completionOf, endingOf, remainingMs } from "./ending.ts";
import { eventAbout } from "./events.ts";
import { isTracked, letGo, uidOf } from "./job-pod.ts";
import { type Job, type JobView, viewOf } from "./job-view.ts";
import { newPod } from "./new-pod.ts";
import { populationOf } from "./population.ts";
import { type Outcome, statusOf } from "./status.ts";

/** `pods`: all Pods of the Job. `podGroupName`: they are scheduled together. */
export function planJob(job: Job, pods: readonly Pod[], now: number, podGroupName?: string): Plan {
  const view = viewOf(job, pods, now);
  const decided = endingOf(view);
  const population = decided === undefined ? populationOf(view) : { remove: view.active, create: [] };
  const { remove, create } = population;
  const running = view.active.length - remove.length + create.length;
  const ending = decided ?? completionOf(view, running);
  const settlement = settlementOf(view, ending);
  // Pods that the Job deletes without a failure do not count.
  const sentAway = ending?.outcome === "failure" ? [] : remove.filter(isTracked);
  const released = [...new Set([...settlement.letGo, ...sentAway])];
  const deadline = ending === undefined ? remainingMs(view) : undefined;
  const waits = [deadline, population.againAfterMs].filter((ms) => ms !== undefined);
  return {
    steps: [
      released.map(letGo),
      [
        ...remove.map((pod): Write => ({ verb: "delete", resource: kinds.Pod, object: pod })),
        ...create.map(
          (index): Write => ({ verb: "create", resource: kinds.Pod, object: newPod(view, index, podGroupName) }),
        ),
      ],
    ],
    eventFor: (write, outcome) => eventAbout(job, write, outcome),
    finally: (failures) =>
      statusWrites(
        view,
        failures.length > 0
          ? asObserved(view)
          : {
              ending,
              settlement,
              released: new Set(released.map(uidOf)),
              active: running,
              ready: view.active.filter(isReady).length - remove.filter(isReady).length,
              terminating: view.terminating.length + remove.length,
              populated: decided === undefined && !isEnding(job),
            },
      ),
    ...(waits.length > 0 && { againAfterMs: Math.min(...waits) }),
  };
}

/** After a failure: created, deleted and released Pods are counted in the next run. */
function asObserved(view: JobView): Outcome {
  const { active, terminating } = view;
  return {
    ending: undefined,
    settlement: settlementOf(view, undefined),
    released: new Set(),
    active: active.length,
    ready: active.filter(isReady).length,
    terminating: terminating.length,
    populated: false,
  };
}

function statusWrites(view: JobView, outcome: Outcome): readonly Write[] {
  const object: Job = { ...view.job, status: statusOf(view, outcome) };
  const isSame = equalJson(object.status as unknown as Json, view.status as unknown as Json);
  return isSame ? [] : [{ verb: "updateStatus", resource: kinds.Job, object }];
}
