/**
 * What brings a Job on.
 *
 *     Pods that are accounted for     their finalizers go
 *     it has to end                   active Pods are deleted; the ending is announced, and declared when nothing is left
 *     it goes on                      Pods are created, or deleted where there are too many or it is suspended
 *     in any case                     the status says what there is
 *
 * 1. The status is written last, as if all went well; where something did not, it says only what the caches show, and the next run goes on from there.
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

/** `pods`: all that belong to the Job. */
export function planJob(job: Job, pods: readonly Pod[], now: number): Plan {
  const view = viewOf(job, pods, now);
  const decided = endingOf(view);
  const population = decided === undefined ? populationOf(view) : { remove: view.active, create: [] };
  const { remove, create } = population;
  const running = view.active.length - remove.length + create.length;
  const ending = decided ?? completionOf(view, running);
  const settlement = settlementOf(view, ending);
  // What the Job sends away without a failure counts for nothing.
  const sentAway = ending?.outcome === "failure" ? [] : remove.filter(isTracked);
  const released = [...new Set([...settlement.letGo, ...sentAway])];
  const deadline = ending === undefined ? remainingMs(view) : undefined;
  const waits = [deadline, population.againAfterMs].filter((ms) => ms !== undefined);
  return {
    steps: [
      released.map(letGo),
      [
        ...remove.map((pod): Write => ({ verb: "delete", resource: kinds.Pod, object: pod })),
        ...create.map((index): Write => ({ verb: "create", resource: kinds.Pod, object: newPod(view, index) })),
      ],
    ],
    told: (write, outcome) => eventAbout(job, write, outcome),
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

/** Something went wrong: who has been created, deleted or released is seen in the next run. */
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
