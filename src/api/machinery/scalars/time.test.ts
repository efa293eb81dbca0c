import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  canonicalMicroTime,
  canonicalTime,
  formatMicroTime,
  formatTime,
  instantOf,
  parseMicroTime,
  parseTime,
  toMs,
} from "./time.ts";

const layout = '"2006-01-02T15:04:05Z07:00"';
const microLayout = '"2006-01-02T15:04:05.000000Z07:00"';

describe("times", () => {
  it.each([
    ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00Z"],
    ["2024-02-29T12:00:00.999Z", "2024-02-29T12:00:00Z"],
    ["2024-02-29T12:00:00,5Z", "2024-02-29T12:00:00Z"],
    ["2024-02-29T12:00:00+02:30", "2024-02-29T09:30:00Z"],
    ["2024-01-01T00:00:00-01:00", "2024-01-01T01:00:00Z"],
    ["2024-01-01T1:00:00Z", "2024-01-01T01:00:00Z"],
    ["0050-06-07T08:09:10Z", "0050-06-07T08:09:10Z"],
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"],
    ["0001-01-01T00:00:00Z", null],
  ])("writes %s back as %s", (text, want) => expect(canonicalTime(text)).toBe(want));

  it.each([
    ["not a time", `parsing time "not a time" as ${layout}: cannot parse "not a time" as "2006"`],
    ["", `parsing time "" as ${layout}: cannot parse "" as "2006"`],
    ["2024-1-01T00:00:00Z", `parsing time "2024-1-01T00:00:00Z" as ${layout}: cannot parse "1-01T00:00:00Z" as "01"`],
    ["2024-13-01T00:00:00Z", 'parsing time "2024-13-01T00:00:00Z": month out of range'],
    ["2023-02-29T00:00:00Z", 'parsing time "2023-02-29T00:00:00Z": day out of range'],
    ["2024-01-01T24:00:00Z", 'parsing time "2024-01-01T24:00:00Z": hour out of range'],
    ["2024-01-01 00:00:00Z", `parsing time "2024-01-01 00:00:00Z" as ${layout}: cannot parse " 00:00:00Z" as "T"`],
    ["2024-01-01T00:00:00", `parsing time "2024-01-01T00:00:00" as ${layout}: cannot parse "" as "Z07:00"`],
    ["2024-01-01T00:00:00Zx", 'parsing time "2024-01-01T00:00:00Zx": extra text: "x"'],
  ])("refuses %j", (text, message) => expect(() => parseTime(text)).toThrow(message));

  it.each([
    ["2024-02-29T12:00:00.123456Z", "2024-02-29T12:00:00.123456Z"],
    ["2024-02-29T12:00:00.000001+01:00", "2024-02-29T11:00:00.000001Z"],
    ["0001-01-01T00:00:00.000000Z", null],
  ])("writes the micro time %s back as %s", (text, want) => expect(canonicalMicroTime(text)).toBe(want));

  it.each([
    ["2001-01-01T00:00:00Z", `parsing time "2001-01-01T00:00:00Z" as ${microLayout}: cannot parse "Z" as ".000000"`],
    ["not a time", `parsing time "not a time" as ${microLayout}: cannot parse "not a time" as "2006"`],
    [
      "2001-01-01T00:00:00.1234567Z",
      `parsing time "2001-01-01T00:00:00.1234567Z" as ${microLayout}: cannot parse "7Z" as "Z07:00"`,
    ],
  ])("refuses the micro time %j", (text, message) => expect(() => parseMicroTime(text)).toThrow(message));

  it("mean the same when they are written and read again", () => {
    const seconds = fc.integer({ min: -62_135_596_799, max: 253_402_300_799 });
    fc.assert(
      fc.property(seconds, fc.integer({ min: 0, max: 999_999 }), (second, micros) => {
        const instant = { seconds: second, nanos: micros * 1000 };
        expect(parseMicroTime(formatMicroTime(instant))).toEqual(instant);
        expect(parseTime(formatTime(instant))).toEqual({ seconds: second, nanos: 0 });
        expect(parseTime(formatMicroTime(instant))).toEqual(instant);
        // Canonical texts are returned as they are, without being parsed.
        const text = formatTime(instant);
        expect(canonicalTime(text)).toBe(formatTime(parseTime(text)));
      }),
    );
  });

  it("are written as Date writes them", () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (ms) => {
        const [whole = "", millis = ""] = new Date(ms).toISOString().slice(0, -1).split(".");
        expect(formatTime(instantOf(ms))).toBe(`${whole}Z`);
        expect(formatMicroTime(instantOf(ms))).toBe(`${whole}.${millis}000Z`);
      }),
    );
  });

  it("come from a clock", () => {
    expect(formatMicroTime(instantOf(1_700_000_000_123.5))).toBe("2023-11-14T22:13:20.123500Z");
    expect(formatTime(instantOf(-1))).toBe("1969-12-31T23:59:59Z");
    expect(toMs(instantOf(1_700_000_000_123))).toBe(1_700_000_000_123);
  });
});
