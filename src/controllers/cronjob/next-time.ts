/**
 * The next time at which a schedule is due.
 *
 * 1. A schedule is due in every minute whose wall-clock time in its zone matches its fields: a time that the clock
 *    skips is not due, one that it shows twice is due twice.
 * 2. The search skips whole months, days and hours that do not match, but stops at every change of the UTC offset.
 */
import type { Schedule } from "./schedule.ts";
import type { OffsetMs } from "./time-zone.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A schedule that is not due within this time never is, such as February 30. */
const MAX_YEARS = 5;

export function nextTime(schedule: Schedule, after: number, offsetAt: OffsetMs): number | undefined {
  if ("everyMs" in schedule) return Math.floor(after / 1000) * 1000 + schedule.everyMs;
  const end = after + (MAX_YEARS + 1) * 366 * DAY_MS;
  let instant = (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS;
  while (instant < end) {
    const offset = offsetAt(instant);
    const wall = instant + offset;
    const fits = nextFit(schedule, wall);
    if (fits === wall) return instant;
    const landing = instant + (fits - wall);
    instant = offsetAt(landing) === offset ? landing : changeBetween(instant, landing, offset, offsetAt);
  }
  return undefined;
}

/** The wall-clock time itself if it matches, else the earliest that may. */
function nextFit(schedule: Exclude<Schedule, { everyMs: number }>, wall: number): number {
  const date = new Date(wall);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (!schedule.months.has(month + 1)) {
    const next = Date.UTC(year, month + 1, 1);
    // The UTC offset may change twice within a month, but not within a day.
    return next - wall > DAY_MS ? next - DAY_MS : next;
  }
  if (!schedule.isDay(date.getUTCDate(), date.getUTCDay())) return (Math.floor(wall / DAY_MS) + 1) * DAY_MS;
  if (!schedule.hours.has(date.getUTCHours())) return (Math.floor(wall / HOUR_MS) + 1) * HOUR_MS;
  if (!schedule.minutes.has(date.getUTCMinutes()) || wall % MINUTE_MS !== 0)
    return (Math.floor(wall / MINUTE_MS) + 1) * MINUTE_MS;
  return wall;
}

/** The first minute after a change of the UTC offset between two instants. */
function changeBetween(from: number, to: number, offset: number, offsetAt: OffsetMs): number {
  let [low, high] = [from, to];
  while (high - low > MINUTE_MS) {
    const middle = low + Math.floor((high - low) / (2 * MINUTE_MS)) * MINUTE_MS;
    if (offsetAt(middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}
