/** The calendar and clock of a timestamp, in UTC or in a time zone given as +02:00 or by its IANA name. */
import { CelError, type Timestamp } from "../values/value.ts";

export interface Civil {
  readonly year: number;
  /** From 0. */
  readonly month: number;
  /** From 1. */
  readonly day: number;
  /** From 0, Sunday. */
  readonly weekday: number;
  /** From 0. */
  readonly dayOfYear: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly milliseconds: number;
}

const dayMs = 86_400_000;

export function civil({ nanos }: Timestamp, zone: string): Civil | CelError {
  const ms = Number(floorDivide(nanos, 1_000_000n));
  const offset = offsetMs(ms, zone);
  if (offset instanceof CelError) return offset;
  const date = new Date(ms + offset);
  const year = date.getUTCFullYear();
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  const newYear = new Date(Date.UTC(2000, 0, 1)).setUTCFullYear(year);
  return {
    year,
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    dayOfYear: Math.floor((date.getTime() - newYear) / dayMs),
    hours: date.getUTCHours(),
    minutes: date.getUTCMinutes(),
    seconds: date.getUTCSeconds(),
    milliseconds: date.getUTCMilliseconds(),
  };
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

function offsetMs(ms: number, zone: string): number | CelError {
  if (zone === "" || zone === "UTC") return 0;
  const fixed = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone);
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    return (fixed[1] === "-" ? -minutes : minutes) * 60_000;
  }
  if (zone.includes(":")) return unknownZone(zone);
  return namedOffsetMs(ms, zone);
}

function namedOffsetMs(ms: number, zone: string): number | CelError {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch (error) {
    if (error instanceof RangeError) return unknownZone(zone);
    throw error;
  }
  const wholeSeconds = Math.floor(ms / 1000) * 1000;
  const parts = new Map(format.formatToParts(wholeSeconds).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return local - wholeSeconds;
}

function unknownZone(zone: string): CelError {
  return new CelError(`unknown time zone ${zone}`);
}
