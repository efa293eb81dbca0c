import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCronSchedule } from "../../api/batch/index.ts";
import { dueAt } from "./due.ts";
import { nextTime } from "./next-time.ts";
import { readSchedule, type Schedule } from "./schedule.ts";
import { timeZone } from "./time-zone.ts";

function schedule(text: string): Schedule {
  const read = readSchedule(text);
  if (typeof read === "string") throw new Error(read);
  return read;
}

function zone(name: string) {
  const offsetAt = timeZone(name);
  if (offsetAt === undefined) throw new Error(`there is no zone ${name}`);
  return offsetAt;
}

const at = (text: string) => Date.parse(text);
const textOf = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16));

const value = (min: number, max: number) => fc.integer({ min, max }).map(String);
const field = (min: number, max: number, names: readonly string[] = []) => {
  const one = names.length === 0 ? value(min, max) : fc.oneof(value(min, max), fc.constantFrom(...names));
  const range = fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
    .map((ends) => ends.sort((a, b) => a - b).join("-"));
  const stepped = fc
    .tuple(fc.oneof(fc.constantFrom("*", "?"), range, value(min, max)), fc.integer({ min: 1, max: 7 }))
    .map(([base, step]) => `${base}/${step}`);
  const part = fc.oneof(fc.constant("*"), one, range, stepped);
  return fc.array(part, { minLength: 1, maxLength: 2 }).map((parts) => parts.join(","));
};
const fields = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12, ["jan", "FEB", "Dec"]), field(0, 6, ["sun", "Mon"]))
  .map((parts) => parts.join(" "));

describe("a schedule", () => {
  it("is read as the API server reads it (property)", () => {
    fc.assert(
      fc.property(fc.oneof(fields, fc.constantFrom("@hourly", "@daily", "@weekly", "@monthly", "@yearly")), (text) => {
        const [ours, theirs] = [schedule(text), parseCronSchedule(text)];
        if ("everyMs" in ours || theirs.kind === "every") throw new Error("a schedule of fields");
        expect([...ours.minutes].sort((a, b) => a - b)).toEqual(theirs.minutes.values);
        expect([...ours.hours].sort((a, b) => a - b)).toEqual(theirs.hours.values);
        expect([...ours.months].sort((a, b) => a - b)).toEqual(theirs.months.values);
        const { daysOfMonth, daysOfWeek } = theirs;
        for (let day = 1; day <= 31; day++) {
          for (let weekday = 0; weekday <= 6; weekday++) {
            const [byMonth, byWeek] = [daysOfMonth.values.includes(day), daysOfWeek.values.includes(weekday)];
            const wanted = daysOfMonth.any || daysOfWeek.any ? byMonth && byWeek : byMonth || byWeek;
            expect(ours.isDay(day, weekday)).toBe(wanted);
          }
        }
      }),
    );
  });

  it.each([
    { text: "@every 90s", want: { everyMs: 90_000 } },
    { text: "@every 1h30m", want: { everyMs: 5_400_000 } },
    { text: "@every 10ms", want: { everyMs: 1_000 } },
    { text: "TZ=Asia/Tokyo 0 9 * * *", want: { timeZone: "Asia/Tokyo" } },
    { text: "CRON_TZ=Asia/Tokyo @daily", want: { timeZone: "Asia/Tokyo" } },
  ])("$text", ({ text, want }) => {
    expect(schedule(text)).toMatchObject(want);
  });

  it.each(["", "* * * *", "60 * * * *", "* * * * mon-", "@never", "@every soon", "*/0 * * * *"])(
    "%j is none",
    (text) => {
      expect(readSchedule(text)).toBeTypeOf("string");
    },
  );
});

describe("the next time", () => {
  it.each([
    { text: "* * * * *", after: "2030-01-01T00:00:30Z", want: "2030-01-01T00:01" },
    { text: "0 * * * *", after: "2030-01-01T00:00:00Z", want: "2030-01-01T01:00" },
    { text: "30 6-16/4 * * 1-5", after: "2030-01-04T14:30:00Z", want: "2030-01-07T06:30" },
    { text: "0 0 13 * fri", after: "2030-01-01T00:00:00Z", want: "2030-01-04T00:00" },
    { text: "0 0 29 2 *", after: "2030-01-01T00:00:00Z", want: "2032-02-29T00:00" },
    { text: "59 23 31 12 *", after: "2030-12-31T23:59:00Z", want: "2031-12-31T23:59" },
    { text: "0 0 31 2 *", after: "2030-01-01T00:00:00Z", want: undefined },
    { text: "@every 90s", after: "2030-01-01T00:00:00Z", want: "2030-01-01T00:01" },
    { zone: "Asia/Tokyo", text: "0 9 * * *", after: "2030-01-01T00:00:00Z", want: "2030-01-02T00:00" },
    { zone: "Asia/Kolkata", text: "0 0 * * *", after: "2030-01-01T00:00:00Z", want: "2030-01-01T18:30" },
    // Clocks go from 2:00 to 3:00: 2:30 is not shown.
    { zone: "America/New_York", text: "30 2 * * *", after: "2030-03-09T12:00:00Z", want: "2030-03-11T06:30" },
    { zone: "America/New_York", text: "30 3 * * *", after: "2030-03-09T12:00:00Z", want: "2030-03-10T07:30" },
    // Clocks go from 2:00 to 1:00: 1:30 is shown twice.
    { zone: "America/New_York", text: "30 1 * * *", after: "2030-11-02T12:00:00Z", want: "2030-11-03T05:30" },
    { zone: "America/New_York", text: "30 1 * * *", after: "2030-11-03T05:30:00Z", want: "2030-11-03T06:30" },
    { zone: "America/New_York", text: "30 1 * * *", after: "2030-11-03T06:30:00Z", want: "2030-11-04T06:30" },
    // By half an hour.
    { zone: "Australia/Lord_Howe", text: "15 2 * * *", after: "2030-10-05T00:00:00Z", want: "2030-10-06T15:15" },
    // At midnight: the day begins at 1:00.
    { zone: "America/Santiago", text: "0 0 * * *", after: "2030-09-07T12:00:00Z", want: "2030-09-09T03:00" },
  ])("of $text after $after is $want", ({ zone: name = "UTC", text, after, want }) => {
    expect(textOf(nextTime(schedule(text), at(after), zone(name)))).toBe(want);
  });

  const zones = [
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Africa/Casablanca",
  ];
  /** Days around which clocks change, in one zone or another. */
  const days = [
    "2030-03-10",
    "2030-03-31",
    "2030-04-06",
    "2030-09-08",
    "2030-10-06",
    "2030-10-27",
    "2030-11-03",
    "2030-12-31",
  ];

  it("is the first minute whose wall clock fits (property)", () => {
    const minutesAhead = 3 * 24 * 60;
    fc.assert(
      fc.property(
        fields,
        fc.constantFrom(...zones),
        fc.constantFrom(...days),
        fc.nat(1440 * 60),
        (text, name, day, seconds) => {
          const read = schedule(text);
          if ("everyMs" in read) throw new Error("a schedule of fields");
          const offsetAt = zone(name);
          const after = at(`${day}T00:00:00Z`) + (seconds - 720 * 60) * 1000;
          const first = (Math.floor(after / 60_000) + 1) * 60_000;
          const wanted = Array.from({ length: minutesAhead }, (_, minute) => first + minute * 60_000).find(
            (instant) => {
              const wall = new Date(instant + offsetAt(instant));
              return (
                read.months.has(wall.getUTCMonth() + 1) &&
                read.isDay(wall.getUTCDate(), wall.getUTCDay()) &&
                read.hours.has(wall.getUTCHours()) &&
                read.minutes.has(wall.getUTCMinutes())
              );
            },
          );
          const found = nextTime(read, after, offsetAt);
          if (wanted !== undefined) expect(textOf(found)).toBe(textOf(wanted));
          else expect(found ?? Infinity).toBeGreaterThanOrEqual(first + minutesAhead * 60_000);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe("what is due", () => {
  it("is the latest time that has passed, within the deadline (property)", () => {
    const start = at("2030-01-01T00:00:00Z");
    fc.assert(
      fc.property(
        fc.oneof(
          fields,
          fc.integer({ min: 1, max: 5000 }).map((seconds) => `@every ${seconds}s`),
        ),
        fc.nat(4 * 24 * 3600),
        fc.option(fc.nat(100_000), { nil: undefined }),
        (text, seconds, deadline) => {
          const read = schedule(text);
          const offsetAt = zone("UTC");
          const now = start + seconds * 1000;
          const times: number[] = [];
          for (
            let time = nextTime(read, start, offsetAt);
            time !== undefined && time <= now;
            time = nextTime(read, time, offsetAt)
          )
            times.push(time);
          const deadlineMs = deadline === undefined ? undefined : deadline * 1000;
          const due = dueAt({ schedule: read, offsetAt }, { since: start, now, deadlineMs });
          const latest = times.at(-1);
          const isInTime = latest !== undefined && latest >= now - (deadlineMs ?? Infinity);
          expect(textOf(due?.at)).toBe(isInTime ? textOf(latest) : undefined);
          if (due?.next !== undefined) expect(due.next).toBeGreaterThan(now);
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    { hours: 99, deadlineMs: undefined, want: false },
    { hours: 101, deadlineMs: undefined, want: true },
    { hours: 101, deadlineMs: 3600_000, want: false },
  ])("event of too many that were missed: $hours hours, $deadlineMs", ({ hours, deadlineMs, want }) => {
    const since = at("2030-01-01T00:00:00Z");
    const timetable = { schedule: schedule("@hourly"), offsetAt: zone("UTC") };
    const due = dueAt(timetable, {
      since,
      now: since + hours * 3600_000,
      deadlineMs,
    });
    expect(due?.manyMissed).toBe(want);
  });

  it("is nothing where a schedule is never due", () => {
    const timetable = { schedule: schedule("0 0 30 2 *"), offsetAt: zone("UTC") };
    expect(dueAt(timetable, { since: 0, now: at("2030-01-01T00:00:00Z") })).toBeUndefined();
  });
});
