import { describe, expect, it } from "vitest";
import { readCommand } from "./command.ts";

const forever = { runForMs: Number.POSITIVE_INFINITY, exitCode: 0 };
const ends = (seconds: number, exitCode: number) => ({ runForMs: seconds * 1_000, exitCode });
const sh = (script: string) => ["sh", "-c", script];

describe("readCommand", () => {
  it.each<[command: readonly string[], course: object | undefined]>([
    [["true"], ends(0, 0)],
    [["/bin/false"], ends(0, 1)],
    [["sleep", "5"], ends(5, 0)],
    [["sleep", "0.5"], ends(0.5, 0)],
    [["/bin/sleep", "2m"], ends(120, 0)],
    [["sleep", "infinity"], forever],
    [["tail", "-f", "/dev/null"], forever],
    [["/pause"], forever],
    [sh("exit 3"), ends(0, 3)],
    [sh("sleep 1; exit 2"), ends(1, 2)],
    [sh("sleep 1 && sleep 2"), ends(3, 0)],
    [sh("false && sleep 5"), ends(0, 1)],
    [sh("false || sleep 5"), ends(5, 0)],
    [sh("echo hello; exit 0"), ends(0, 0)],
    [sh("exit 1; sleep 100"), ends(0, 1)],
    [sh("while true; do sleep 1; done"), forever],
    [["/bin/sh", "-ec", "sleep 1"], ends(1, 0)],
    // What it does not know, it does not guess.
    [[], undefined],
    [["nginx"], undefined],
    [["sleep", "soon"], undefined],
    [sh("exit $CODE"), undefined],
    [sh("if true; then exit 1; fi"), undefined],
    [sh("sleep 1 | cat"), undefined],
    [["exit", "1"], undefined],
  ])("%j", (command, course) => {
    expect(readCommand(command)).toEqual(course);
  });
});
