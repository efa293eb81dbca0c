import { describe, expect, it } from "vitest";
import { ageOf, firstThree, humanDuration, labelsText } from "./columns.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

describe("how long ago", () => {
  it.each([
    [-5 * second, "<invalid>"],
    [-1 * second, "0s"],
    [0, "0s"],
    [119 * second, "119s"],
    [2 * minute, "2m"],
    [9 * minute + 5 * second, "9m5s"],
    [10 * minute + 5 * second, "10m"],
    [179 * minute, "179m"],
    [3 * hour, "3h"],
    [7 * hour + 4 * minute, "7h4m"],
    [47 * hour, "47h"],
    [2 * day + 3 * hour, "2d3h"],
    [8 * day + 3 * hour, "8d"],
    [729 * day, "729d"],
    [740 * day, "2y10d"],
    [9 * 365 * day, "9y"],
  ])("%d ms is %s", (ms, want) => expect(humanDuration(ms)).toBe(want));

  it("is unknown without a time", () => {
    expect([undefined, null].map((time) => ageOf(time, 0))).toEqual(["<unknown>", "<unknown>"]);
  });

  it("reads times to the second and finer", () => {
    const now = Date.parse("2020-01-01T00:01:00Z");
    expect(ageOf("2020-01-01T00:00:00Z", now)).toBe("60s");
    expect(ageOf("2020-01-01T00:00:00.500000Z", now)).toBe("59s");
  });
});

describe("lists in cells", () => {
  it("shows labels in order", () => {
    expect([labelsText({ b: "2", a: "1" }), labelsText({}), labelsText(undefined)]).toEqual([
      "a=1,b=2",
      "<none>",
      "<none>",
    ]);
  });

  it("counts what does not fit", () => {
    expect([firstThree(["a"]), firstThree(["a", "b", "c"]), firstThree(["a", "b", "c", "d", "e"])]).toEqual([
      "a",
      "a,b,c",
      "a,b,c + 2 more...",
    ]);
  });
});
