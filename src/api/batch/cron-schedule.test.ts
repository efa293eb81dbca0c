import { describe, expect, it } from "vitest";
import { type CronFields, CronScheduleError, parseCronSchedule } from "./cron-schedule.ts";

function fields(text: string): CronFields {
  const schedule = parseCronSchedule(text);
  if (schedule.kind !== "fields") throw new Error(`${text} is no schedule of fields`);
  return schedule;
}

describe("fields", () => {
  const cases: { field: string; want: readonly number[]; any?: boolean }[] = [
    { field: "5", want: [5] },
    { field: "0-3", want: [0, 1, 2, 3] },
    { field: "1-9/4", want: [1, 5, 9] },
    { field: "50/5", want: [50, 55] },
    { field: "*/20", want: [0, 20, 40] },
    { field: "7,1,,3", want: [1, 3, 7] },
    { field: "+4", want: [4] },
  ];
  it.each(cases)("minute $field", ({ field, want }) => {
    expect(fields(`${field} * * * *`).minutes).toEqual({ values: want, any: false });
  });

  it("know names of months and days in any case, and stars", () => {
    const { months, daysOfWeek, hours, daysOfMonth } = fields("0 * ? JAN-mar sun,Wed");
    expect(months.values).toEqual([1, 2, 3]);
    expect(daysOfWeek.values).toEqual([0, 3]);
    expect(hours.any).toBe(true);
    expect(daysOfMonth).toEqual({ values: Array.from({ length: 31 }, (_, i) => i + 1), any: true });
  });
});

it.each([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
])("%s is %s", (name, spelled) => {
  expect(parseCronSchedule(name)).toEqual(parseCronSchedule(spelled));
});

it.each([
  ["@every 1h30m", 5_400_000],
  ["@every 90s", 90_000],
  ["@every 1500ms", 1000],
  ["@every 1ms", 1000],
])("%s is %d ms", (text, ms) => {
  expect(parseCronSchedule(text)).toEqual({ kind: "every", ms });
});

it("takes a zone in front", () => {
  expect(fields("CRON_TZ=Europe/Berlin 0 0 * * *").timeZone).toBe("Europe/Berlin");
  expect(fields("TZ=UTC @daily").timeZone).toBe("UTC");
});

describe("refusals", () => {
  it.each([
    ["", "empty spec string"],
    ["* * * *", "expected exactly 5 fields, found 4: [* * * *]"],
    ["0 * * * * *", "expected exactly 5 fields, found 6: [0 * * * * *]"],
    ["60 * * * *", "end of range (60) above maximum (59): 60"],
    ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
    ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
    ["*/0 * * * *", "step of range should be a positive number: */0"],
    ["1-2-3 * * * *", "too many hyphens: 1-2-3"],
    ["1/2/3 * * * *", "too many slashes: 1/2/3"],
    ["x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ["* * * * foo", 'failed to parse int from foo: strconv.Atoi: parsing "foo": invalid syntax'],
    ["-1 * * * *", 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
    [
      "99999999999999999999 * * * *",
      'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
    ],
    ["@fortnightly", "unrecognized descriptor: @fortnightly"],
    ["@every", "unrecognized descriptor: @every"],
    ["@every soon", 'failed to parse duration @every soon: time: invalid duration "soon"'],
    ["TZ=Nowhere/At_All 0 0 * * *", "provided bad location Nowhere/At_All: unknown time zone Nowhere/At_All"],
  ])("%j", (text, message) => {
    expect(() => parseCronSchedule(text)).toThrow(new CronScheduleError(message));
  });
});
