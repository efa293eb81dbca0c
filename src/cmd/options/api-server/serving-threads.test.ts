import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { servingThreadsOption } from "./serving-threads.ts";

function parsed(...args: readonly string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  command.addOption(servingThreadsOption()).parse(args, { from: "user" });
  return command.opts().servingThreads;
}

describe("--serving-threads", () => {
  it.each([
    { args: [], want: undefined },
    { args: ["--serving-threads", "auto"], want: "auto" },
    { args: ["--serving-threads=3"], want: 3 },
  ])("$args", ({ args, want }) => {
    expect(parsed(...args)).toBe(want);
  });

  it.each(["0", "65", "-1", "1.5", "many", ""])("refuses %j", (text) => {
    expect(() => parsed(`--serving-threads=${text}`)).toThrow("It is auto, or a whole number from 1 to 64.");
  });
});
