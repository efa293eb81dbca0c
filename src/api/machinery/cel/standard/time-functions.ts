/** getFullYear etc.: the parts of timestamps and durations. */
import { type FunctionDeclaration, fn, member, type Overload } from "../functions/function.ts";
import { duration, int, string, timestamp } from "../values/type.ts";
import { CelError, type Duration, type Outcome, type Timestamp } from "../values/value.ts";
import { type Civil, civil } from "./time-zone.ts";

function part(id: string, pick: (parts: Civil) => number): readonly Overload[] {
  const read = (time: Timestamp, zone: string): Outcome => {
    const parts = civil(time, zone);
    return parts instanceof CelError ? parts : BigInt(pick(parts));
  };
  return [
    member(`timestamp_to_${id}`, [timestamp], int, (time: Timestamp) => read(time, "UTC")),
    member(`timestamp_to_${id}_with_tz`, [timestamp, string], int, read),
  ];
}

/** The whole duration in a unit, rounded towards zero. */
function whole(id: string, unit: bigint): Overload {
  return member(`duration_to_${id}`, [duration], int, ({ nanos }: Duration) => nanos / unit);
}

export const timeFunctions: readonly FunctionDeclaration[] = [
  fn("getFullYear", ...part("year", ({ year }) => year)),
  fn("getMonth", ...part("month", ({ month }) => month)),
  fn("getDayOfYear", ...part("day_of_year", ({ dayOfYear }) => dayOfYear)),
  fn("getDate", ...part("day_of_month_1_based", ({ day }) => day)),
  fn("getDayOfMonth", ...part("day_of_month", ({ day }) => day - 1)),
  fn("getDayOfWeek", ...part("day_of_week", ({ weekday }) => weekday)),
  fn("getHours", ...part("hours", ({ hours }) => hours), whole("hours", 3_600_000_000_000n)),
  fn("getMinutes", ...part("minutes", ({ minutes }) => minutes), whole("minutes", 60_000_000_000n)),
  fn("getSeconds", ...part("seconds", ({ seconds }) => seconds), whole("seconds", 1_000_000_000n)),
  fn("getMilliseconds", ...part("milliseconds", ({ milliseconds }) => milliseconds), whole("milliseconds", 1_000_000n)),
];
