import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { needsLibraries } from "./elf.ts";
import { pauseProgram } from "./pause.ts";

describe("pauseProgram", () => {
  it.each([
    ["x64", 62],
    ["arm64", 183],
  ] as const)("is a small static program for %s", (machine, id) => {
    const program = pauseProgram(machine);
    expect(program.toString("latin1", 0, 4)).toBe("\x7fELF");
    expect(program.readUInt16LE(18)).toBe(id);
    expect(program.length).toBeLessThan(256);
    expect(needsLibraries(program)).toBe(false);
    // It begins behind the headers, within what is loaded.
    expect(program.readBigUInt64LE(24)).toBe(0x400000n + 120n);
    expect(program.readBigUInt64LE(64 + 32)).toBe(BigInt(program.length));
  });

  it("the same code on both: signals to wait for stand at the end", () => {
    const set = (1 << 1) | (1 << 14) | (1 << 16);
    for (const machine of ["x64", "arm64"] as const) {
      const program = pauseProgram(machine);
      expect(program.readUInt32LE(program.length - 8)).toBe(set);
    }
  });

  it("jumps to places that there are: no distance is lost", () => {
    expect([...pauseProgram("x64")].every(Number.isInteger)).toBe(true);
    // b.ne wait of arm64 goes back: its distance is negative.
    const code = pauseProgram("arm64").subarray(120);
    const jumps = Array.from({ length: code.length / 4 - 2 }, (_, index) => code.readUInt32LE(index * 4)).filter(
      (word) => (word & 0xff00001f) >>> 0 === 0x54000001,
    );
    expect(jumps.map((word) => ((word >>> 5) << 13) >> 13)).toEqual([-11]);
  });
});

const runs = process.platform === "linux" && (process.arch === "x64" || process.arch === "arm64");

describe.skipIf(!runs)("pause, run", () => {
  const dir = mkdtempSync(join(tmpdir(), "k8ts-pause-"));
  const program = join(dir, "pause");
  beforeAll(() => {
    writeFileSync(program, pauseProgram(process.arch === "arm64" ? "arm64" : "x64"));
    chmodSync(program, 0o755);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it.each(["SIGTERM", "SIGINT"] as const)("ends by itself on %s", async (signal) => {
    const child = spawn(program);
    const ended = once(child, "exit");
    await once(child, "spawn");
    // Asleep, it waits for signals; until then they end it.
    await vi.waitUntil(() => /^State:\tS/m.test(readFileSync(`/proc/${child.pid}/status`, "utf8")));
    // One that reaps may have nothing to reap: it goes on.
    child.kill("SIGCHLD");
    child.kill(signal);
    expect(await ended).toEqual([0, null]);
  });
});
