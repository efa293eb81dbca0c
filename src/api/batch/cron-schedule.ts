/**
 * Schedules of CronJobs: five fields (`0,30 9-17 * * mon-fri`), a name (`@hourly`) or an interval (`@every 90s`).
 *
 * 1. A field is parsed as cron does: numbers, names, ranges, steps, lists. Errors have the words of Kubernetes.
 * 2. A day must match both day fields, unless neither of them is `any`: then it must match one of them.
 */

import { table } from "#base";
import { goQuote } from "../machinery/json/go-text.ts";
import { DurationError, parseDuration } from "../machinery/scalars/duration.ts";
import { isTimeZone } from "./time-zone.ts";

export type CronSchedule = CronFields | CronDistance;

export interface CronFields {
  readonly kind: "fields";
  /** A time zone inside the schedule: only schedules from before `spec.timeZone` may have one. */
  readonly timeZone?: string | undefined;
  readonly minutes: CronField;
  readonly hours: CronField;
  readonly daysOfMonth: CronField;
  readonly months: CronField;
  /** 0 is Sunday. */
  readonly daysOfWeek: CronField;
}

export interface CronDistance {
  readonly kind: "every";
  readonly ms: number;
}

export interface CronField {
  /** The values that match, sorted. */
  readonly values: readonly number[];
  /** Written as `*` or `?`. */
  readonly any: boolean;
}

export class CronScheduleError extends Error {
  override readonly name = "CronScheduleError";
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const minutes: Bounds = { min: 0, max: 59 };
const hours: Bounds = { min: 0, max: 23 };
const daysOfMonth: Bounds = { min: 1, max: 31 };
const months: Bounds = { min: 1, max: 12, names: monthNames };
const daysOfWeek: Bounds = { min: 0, max: 6, names: dayNames };

const named: Readonly<Record<string, string>> = table({
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
});

const everyPrefix = "@every ";

export function parseCronSchedule(text: string): CronSchedule {
  if (text === "") throw new CronScheduleError("empty spec string");
  const zone = /^(?:CRON_)?TZ=(\S*)/.exec(text);
  const timeZone = zone?.[1];
  if (timeZone !== undefined && timeZone !== "" && !isTimeZone(timeZone)) {
    throw new CronScheduleError(`provided bad location ${timeZone}: unknown time zone ${timeZone}`);
  }
  const rest = zone === null ? text : text.slice(zone[0].length).trim();
  if (rest.startsWith(everyPrefix)) return { kind: "every", ms: everyMs(rest) };
  const spec = rest.startsWith("@") && Object.hasOwn(named, rest) ? named[rest] : rest;
  if (spec === undefined || spec.startsWith("@")) throw new CronScheduleError(`unrecognized descriptor: ${rest}`);
  return { ...readFields(spec), timeZone };
}

function everyMs(text: string): number {
  try {
    // Whole seconds, at least one.
    const seconds = parseDuration(text.slice(everyPrefix.length)) / 1_000_000_000n;
    return Number(seconds < 1n ? 1n : seconds) * 1000;
  } catch (error) {
    if (error instanceof DurationError)
      throw new CronScheduleError(`failed to parse duration ${text}: ${error.message}`);
    throw error;
  }
}

function readFields(spec: string): CronFields {
  const fields = spec.split(/\s+/).filter((field) => field !== "");
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields;
  if (
    fields.length !== 5 ||
    minute === undefined ||
    hour === undefined ||
    dayOfMonth === undefined ||
    month === undefined ||
    dayOfWeek === undefined
  ) {
    throw new CronScheduleError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`);
  }
  return {
    kind: "fields",
    minutes: readField(minute, minutes),
    hours: readField(hour, hours),
    daysOfMonth: readField(dayOfMonth, daysOfMonth),
    months: readField(month, months),
    daysOfWeek: readField(dayOfWeek, daysOfWeek),
  };
}

function readField(field: string, bounds: Bounds): CronField {
  const values = new Set<number>();
  let any = false;
  for (const expression of field.split(",")) {
    if (expression === "") continue;
    const range = readRange(expression, bounds);
    any ||= range.any;
    for (let value = range.start; value <= range.end; value += range.step) values.add(value);
  }
  return { values: [...values].sort((a, b) => a - b), any };
}

interface CronRange {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly any: boolean;
}

function readRange(expression: string, bounds: Bounds): CronRange {
  const [range = "", stepText, ...moreSteps] = expression.split("/");
  const [lowText = "", highText, ...moreHyphens] = range.split("-");
  const isStar = lowText === "*" || lowText === "?";
  const low = isStar ? bounds.min : readValue(lowText, bounds);
  if (!isStar && moreHyphens.length > 0) throw new CronScheduleError(`too many hyphens: ${expression}`);
  const high = isStar ? bounds.max : highText === undefined ? low : readValue(highText, bounds);
  if (moreSteps.length > 0) throw new CronScheduleError(`too many slashes: ${expression}`);
  const step = stepText === undefined ? 1 : readNumber(stepText);
  // A single number with a step runs to the end of the range.
  const end = stepText !== undefined && highText === undefined ? bounds.max : high;
  if (low < bounds.min)
    throw new CronScheduleError(`beginning of range (${low}) below minimum (${bounds.min}): ${expression}`);
  if (end > bounds.max)
    throw new CronScheduleError(`end of range (${end}) above maximum (${bounds.max}): ${expression}`);
  if (low > end) throw new CronScheduleError(`beginning of range (${low}) beyond end of range (${end}): ${expression}`);
  if (step === 0) throw new CronScheduleError(`step of range should be a positive number: ${expression}`);
  return { start: low, end, step, any: isStar && step === 1 };
}

function readValue(text: string, { min, names = [] }: Bounds): number {
  const at = names.indexOf(text.toLowerCase());
  return at < 0 ? readNumber(text) : at + min;
}

function readNumber(text: string): number {
  const fail = (why: string) =>
    new CronScheduleError(`failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw fail("invalid syntax");
  const value = BigInt(text.replace(/^\+/, ""));
  if (value >= 2n ** 63n || value < -(2n ** 63n)) throw fail("value out of range");
  if (value < 0n) throw new CronScheduleError(`negative number (${value}) not allowed: ${text}`);
  return Number(value);
}
