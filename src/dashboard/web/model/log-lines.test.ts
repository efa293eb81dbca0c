import { expect, it } from "vitest";
import { LogLines } from "./log-lines.ts";

it("keeps the last lines, without colours, and finds words in them", () => {
  const lines = new LogLines(10);
  lines.add(Array.from({ length: 25 }, (_, at) => `\u001b[31mline\u001b[0m ${at}`));
  expect(lines.matching("")).toHaveLength(10);
  expect(lines.matching("")[0]).toBe("line 15");
  expect(lines.matching("LINE 2")).toEqual(["line 20", "line 21", "line 22", "line 23", "line 24"]);
});
