import { Command, Option } from "commander";
import { describe, expect, it } from "vitest";
import { flagValues } from "./flag-values.ts";
import { milliseconds } from "./values.ts";

function parsed(...args: readonly string[]) {
  const list = (value: string) => value.split(",");
  const map = (value: string, before: readonly (readonly string[])[] = []) => [...before, value.split("=")];
  const command = new Command()
    .addOption(new Option("--event-ttl <duration>").argParser(milliseconds).default(3_600_000))
    .addOption(new Option("--names <list>").argParser(list))
    .addOption(new Option("--gates <map>").argParser(map))
    .option("--data-dir <dir>")
    .option("--leader-elect", "", true)
    .option("--no-leader-elect")
    .addOption(new Option("--profiling [bool]").hideHelp());
  return flagValues(command.parse(args, { from: "user" }));
}

describe("flags with their values", () => {
  it("have those that were given, and defaults", () => {
    expect(parsed()).toEqual({ "event-ttl": "1h0m0s", names: "", gates: "", "data-dir": "", "leader-elect": "true" });
    expect(
      parsed("--event-ttl", "90s", "--names", "a,b", "--gates", "A=true", "--gates", "B=false", "--no-leader-elect"),
    ).toEqual({
      "event-ttl": "1m30s",
      names: "[a,b]",
      gates: "A=true,B=false",
      "data-dir": "",
      "leader-elect": "false",
    });
  });
});
