import { expect, it } from "vitest";
import { COMMANDS, program } from "./program.ts";

const names = (asked?: string) => program(asked).commands.map((command) => command.name());

it("has every command, unless one of them is asked for", () => {
  const all = Object.keys(COMMANDS);
  expect(names()).toEqual(expect.arrayContaining(all));
  for (const asked of ["help", "--version", "-h", "toString", "ups"]) expect(names(asked)).toEqual(names());
  for (const asked of all) expect(names(asked)).toEqual([asked]);
});
