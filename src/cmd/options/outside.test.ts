import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { notesOnOutside, type OutsideOptions, outsideFrom, outsideOptions, PULLS_BY_DEFAULT } from "./outside.ts";

function parsed(...words: readonly string[]): OutsideOptions {
  const command = new Command().exitOverride();
  for (const option of outsideOptions()) command.addOption(option);
  command.parseOptions([...words]);
  return command.opts();
}

describe("outsideFrom", () => {
  it.each<{ words: string[]; env: NodeJS.ProcessEnv; want: boolean }>([
    { words: [], env: {}, want: true },
    { words: [], env: { K8TS_OUTSIDE: "" }, want: true },
    { words: [], env: { K8TS_OUTSIDE: "on" }, want: true },
    { words: [], env: { K8TS_OUTSIDE: "off" }, want: false },
    { words: ["--no-outside"], env: {}, want: false },
    { words: ["--no-outside"], env: { K8TS_OUTSIDE: "on" }, want: false },
    { words: ["--outside"], env: { K8TS_OUTSIDE: "off" }, want: true },
    { words: ["--pull-images"], env: { K8TS_OUTSIDE: "off" }, want: true },
  ])("$words, $env: $want", ({ words, env, want }) => expect(outsideFrom(parsed(...words), env)).toBe(want));

  it("refuses what says neither, or both", () => {
    expect(() => outsideFrom(parsed(), { K8TS_OUTSIDE: "no" })).toThrow('must be on or off, not "no"');
    expect(() => outsideFrom(parsed("--pull-images", "--no-outside"), {})).toThrow("contradicts --no-outside");
  });

  it("says that --pull-images is the default now", () => {
    expect(notesOnOutside(parsed("--pull-images"))).toEqual([PULLS_BY_DEFAULT]);
    expect(notesOnOutside(parsed())).toEqual([]);
  });
});
