/** Long commands show what people use; the rest is one flag away. */
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { COMMANDS, program } from "../program.ts";
import { LONG } from "./help.ts";

function helpOf(name: string, ...flags: readonly string[]): string {
  const root = program();
  const command = root.commands.find((each) => each.name() === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  if (flags.length === 0) return command.helpInformation();
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) });
  expect(() => command.parse([...flags], { from: "user" })).toThrow("(outputHelp)");
  return text;
}

const flagsIn = (text: string) => [...text.matchAll(/^ {2}(?:-\w, )?(--?[\w-]+)/gm)].map(([, flag]) => flag);
const visible = (command: Command | undefined) => command?.options.filter(({ hidden }) => !hidden) ?? [];
const long = Object.keys(COMMANDS).filter((name) => visible(COMMANDS[name]?.()).length > LONG);

describe("help", () => {
  it("of up has some twenty flags, in groups", () => {
    const text = helpOf("up");
    expect(flagsIn(text).length).toBeGreaterThanOrEqual(15);
    expect(flagsIn(text).length).toBeLessThanOrEqual(LONG);
    for (const heading of ["Options:", "Nodes:", "Connections:", "Features and APIs:"])
      expect(text).toContain(`\n${heading}\n`);
  });

  it.each(long)("of %s is short; --help-all has all flags", (name) => {
    const [short, all] = [helpOf(name), helpOf(name, "--help-all")];
    expect(flagsIn(short).length).toBeLessThanOrEqual(LONG);
    const flags = visible(program().commands.find((each) => each.name() === name)).map(({ long: flag }) => flag);
    expect(flagsIn(all)).toEqual(expect.arrayContaining(flags));
    expect(flagsIn(all)).toEqual(expect.arrayContaining(flagsIn(short)));
  });
});
