/**
 * Cron schedules: five fields (`0,30 9-17 * * mon-fri`), a name (`@hourly`) or an interval (`@every 90s`).
 *
 * 1. Schedules have passed API validation: only those that cannot be parsed are refused here.
 * 2. A day matches by day of month and day of week; if neither field is `*`, one of the two is enough.
 */
import { DurationError, durationMs } from "#api";

export type Schedule =
  | { readonly everyMs: number }
  | {
      readonly minutes: ReadonlySet<number>;
      readonly hours: ReadonlySet<number>;
      readonly months: ReadonlySet<number>;
      isDay(dayOfMonth: number, dayOfWeek: number): boolean;
      /** Time zone in the schedule itself: a legacy form. */
      readonly timeZone?: string;
    };

interface Field {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const FIELDS: readonly Field[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"] },
  { min: 0, max: 6, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

const NAMED = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

/** A string says why the schedule cannot be parsed. */
export function readSchedule(text: string): Schedule | string {
  const [, timeZone, given = ""] = /^(?:(?:CRON_)?TZ=(\S*)\s+)?(.*)$/s.exec(text.trim()) ?? [];
  const every = /^@every\s+(.*)$/s.exec(given)?.[1];
  if (every !== undefined) return readDistance(every);
  const fields = (NAMED.get(given) ?? given).split(/\s+/);
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, at) => readField(fields[at] ?? "", field));
  if (!minutes || !hours || !days || !months || !weekdays) return `failed to parse ${given}`;
  const oneIsEnough = !days.any && !weekdays.any;
  return {
    minutes: minutes.values,
    hours: hours.values,
    months: months.values,
    isDay: (dayOfMonth, dayOfWeek) => {
      const [byMonth, byWeek] = [days.values.has(dayOfMonth), weekdays.values.has(dayOfWeek)];
      return oneIsEnough ? byMonth || byWeek : byMonth && byWeek;
    },
    ...(timeZone !== undefined && timeZone !== "" && { timeZone }),
  };
}

/** Whole seconds, at least one. */
function readDistance(text: string): Schedule | string {
  try {
    return { everyMs: Math.max(1, Math.floor(durationMs(text) / 1000)) * 1000 };
  } catch (error) {
    if (error instanceof DurationError) return `failed to parse duration @every ${text}: ${error.message}`;
    throw error;
  }
}

interface Values {
  readonly values: ReadonlySet<number>;
  /** The field contains `*`: the other field decides. */
  readonly any: boolean;
}

function readField(text: string, field: Field): Values | undefined {
  const values = new Set<number>();
  let any = false;
  for (const part of text.split(",").filter((each) => each !== "")) {
    const [range = "", stepText] = part.split("/");
    const [lowText = "", highText] = range.split("-");
    const isStar = lowText === "*" || lowText === "?";
    const low = isStar ? field.min : readValue(lowText, field);
    const step = readValue(stepText ?? "1", { min: 1, max: Infinity });
    // A single number with a step runs to the end of the range.
    const toEnd = isStar || (highText === undefined && stepText !== undefined);
    const high = toEnd ? field.max : highText === undefined ? low : readValue(highText, field);
    if (low === undefined || high === undefined || step === undefined) return undefined;
    any ||= isStar && step === 1;
    for (let value = low; value <= high; value += step) values.add(value);
  }
  return { values, any };
}

function readValue(text: string, { min, max, names = [] }: Field): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  const value = named === -1 ? (/^\+?\d+$/.test(text) ? Number(text) : Number.NaN) : named + min;
  return value >= min && value <= max ? value : undefined;
}
