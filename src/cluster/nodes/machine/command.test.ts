import { describe, expect, it } from "vitest";
import { CommandError, findProgram, run } from "./command.ts";

describe("run", () => {
  it("gives back what a program prints, and gives it what it reads", async () => {
    expect(await run("cat", [], { input: "hello" })).toBe("hello");
    async function* chunks() {
      for (let index = 0; index < 1000; index++) yield Buffer.alloc(1000, "x");
    }
    expect((await run("wc", ["-c"], { input: chunks() })).trim()).toBe("1000000");
  });

  it("throws the last words of one that fails", async () => {
    await expect(run("sh", ["-c", "echo first >&2; echo last >&2; exit 3"])).rejects.toThrow(/^sh .*: last$/);
    await expect(run("sh", ["-c", "exit 3"])).rejects.toThrow("it ended with exit code 3");
    await expect(run("sh", ["-c", "kill -9 $$"])).rejects.toThrow("it ended with SIGKILL");
  });

  it("says so when it cannot be run", async () => {
    const failure = run("no-such-program", []);
    await expect(failure).rejects.toThrow(CommandError);
    await expect(failure).rejects.toThrow("no-such-program cannot be run: spawn no-such-program ENOENT");
  });

  it("throws what its input throws", async () => {
    async function* broken() {
      yield Buffer.from("x");
      throw new Error("the file is gone");
    }
    await expect(run("cat", [], { input: broken() })).rejects.toThrow("the file is gone");
  });

  it("one that does not read all of its input may end", async () => {
    const much = Buffer.alloc(5_000_000, "x");
    expect(await run("head", ["-c", "3"], { input: much })).toBe("xxx");
    await expect(run("sh", ["-c", "echo no >&2; exit 1"], { input: much })).rejects.toThrow("no");
  });
});

describe("findProgram", () => {
  it("finds what can be run, or nothing", () => {
    expect(findProgram("sh")).toMatch(/\/sh$/);
    expect(findProgram("no-such-program")).toBeUndefined();
  });
});
