/**
 * Which time of a schedule is due, of all that have passed since the last one that was met: the latest, unless it is too late for it.
 */
import { nextTime } from "./next-time.ts";
import type { Schedule } from "./schedule.ts";
import type { OffsetMs } from "./time-zone.ts";

/** More missed times than this are worth a warning. */
const MANY = 100;

export interface Timetable {
  readonly schedule: Schedule;
  readonly offsetAt: OffsetMs;
}

export interface Due {
  /** What has to be started now. */
  readonly at?: number;
  readonly manyMissed: boolean;
  /** When to look again. */
  readonly next?: number;
}

/** Undefined: the schedule is never due. `since`: the last time that was met, or when all began. */
export function dueAt(
  { schedule, offsetAt }: Timetable,
  { since, now, deadlineMs = Infinity }: { since: number; now: number; deadlineMs?: number },
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
    ...(latest >= now - deadlineMs && { at: latest }),
    manyMissed: missed > MANY,
    ...(next !== undefined && { next }),
  };
}

/** The last one that is not later than now, looked for in longer and longer times before it: there may be very many in all. */
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
