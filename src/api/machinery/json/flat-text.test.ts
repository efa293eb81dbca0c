import { describe, expect, it } from "vitest";
import { flatText } from "./flat-text.ts";

describe("flatText", () => {
  const table = [
    { name: "nothing", text: "" },
    { name: "short", text: "Pod" },
    { name: "joined", text: ["default", "-scheduler: ", "preempting"].reduce((all, part) => all + part, "") },
    { name: "Latin letters", text: `${"é".repeat(20)} ü` },
    { name: "other letters", text: `${"日本語".repeat(10)} x` },
    { name: "a letter of two halves, and one half", text: `${"a".repeat(20)}\u{1f600}\ud83d` },
    { name: "as long as it takes", text: "x".repeat(1024) },
    { name: "longer", text: "y".repeat(5000) },
  ];
  it.each(table)("gives the same: $name", ({ text }) => {
    expect(flatText(text)).toBe(text);
  });

  it("does not change what it gave before", () => {
    const first = flatText("a text that is long enough");
    flatText("another one that is as long");
    expect(first).toBe("a text that is long enough");
  });
});
