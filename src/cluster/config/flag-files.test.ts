import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { settled, VirtualClock } from "#base";
import { followFile } from "./flag-files.ts";

describe("a file that is followed", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "k8ts-follow-"));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  async function follow(work: (world: { file: string; told: string[]; pass(): Promise<void> }) => Promise<void>) {
    const file = join(dir, "file");
    writeFileSync(file, "first");
    const clock = new VirtualClock();
    const stop = new AbortController();
    const told: string[] = [];
    const running = followFile(file, {
      clock,
      signal: stop.signal,
      known: "first",
      changed: (text) => {
        if (text === "nonsense") throw new Error("it makes no sense");
        told.push(text);
      },
      failed: (error) => told.push(`failed: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`),
    });
    /** Lets it look once more. */
    const pass = async () => {
      await clock.advance(5_000);
      while (clock.pending === 0) await settled();
    };
    while (clock.pending === 0) await settled();
    await work({ file, told, pass });
    stop.abort();
    await running;
  }

  it("tells what it holds when that changes, and only then", () =>
    follow(async ({ file, told, pass }) => {
      await pass();
      writeFileSync(`${file}.new`, "second");
      renameSync(`${file}.new`, file);
      await pass();
      await pass();
      expect(told).toEqual(["second"]);
    }));

  it("tells once what it makes of nonsense, and goes on", () =>
    follow(async ({ file, told, pass }) => {
      writeFileSync(file, "nonsense");
      await pass();
      await pass();
      writeFileSync(file, "third");
      await pass();
      expect(told).toEqual(["failed: it makes no sense", "third"]);
    }));

  it("tells once that it is gone, and is found again", () =>
    follow(async ({ file, told, pass }) => {
      rmSync(file);
      await pass();
      await pass();
      writeFileSync(file, "back");
      await pass();
      expect(told).toEqual(["failed: ENOENT", "back"]);
    }));
});
