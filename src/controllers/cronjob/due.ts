/** Which time of a schedule is due: the latest one since the last run, unless its starting deadline has passed. */
import { nextTime } from "./next-time.ts";
import type { Schedule } from "./schedule.ts";
import type { OffsetMs } from "./time-zone.ts";

/** More missed times than this cause a warning. */
const MANY = 100;

export interface Timetable {
  readonly schedule: Schedule;
  readonly offsetAt: OffsetMs;
}

export interface Due {
  /** The scheduled time to start a Job for. */
  readonly at?: number | undefined;
  readonly manyMissed: boolean;
  /** When to reconcile again. */
  readonly next?: number | undefined;
}

/** Undefined: the schedule is never due. `since`: the last scheduled time, or the creation of the CronJob. */
export function dueAt(
  { schedule, offsetAt }: Timetable,
  { since, now, deadlineMs = Infinity }: { since: number; now: number; deadlineMs?: number | undefined },
): Due | undefined {
  const after = (time: number) => nextTime(schedule, time, offsetAt);
  const first = after(since);
  if (first === undefined) return undefined;
  if (first > now) return { manyMissed: false, next: first };
  const second = after(first);
  const distance = (second ?? Infinity) - first;
  const latest = "everyMs" in schedule ? now - ((now - first) % distance) : latestOf(after, { first, distance, now });
  const next = after(latest);
  const missed = Math.floor((now - Math.max(first, now - deadlineMs)) / distance) + 1;
  return {
    at: latest >= now - deadlineMs ? latest : undefined,
    manyMissed: missed > MANY,
    next,
  };
}

/**
 * The last time that is not after now, searched in growing intervals before now: there may be very many times in all.
 */
function latestOf(
  after: (time: number) => number | undefined,
  { first, distance, now }: { first: number; distance: number; now: number },
): number {
  let latest = first;
  for (let backMs = distance; now - backMs > first && latest === first; backMs *= 2) {
    for (let time = after(now - backMs); time !== undefined && time <= now; time = after(time)) latest = time;
  }
  if (latest !== first) return latest;
  for (let time: number | undefined = first; time !== undefined && time <= now; time = after(time)) latest = time;
  return latest;
}
