import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acquireFileLock, type FileLock, type FileLockHeld } from "./file-lock.ts";

const module = join(import.meta.dirname, "file-lock.ts");

describe("file lock", () => {
  let dir: string;
  let path: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "file-lock-"));
    path = join(dir, "lock");
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it("is held once, also within one process, and names its holder", () => {
    const lock = acquired(acquireFileLock(path, { holder: "process 1" }));
    expect(acquireFileLock(path, { holder: "process 2" })).toEqual({ heldBy: "process 1" });
    lock.release();
    lock.release();
    const again = acquired(acquireFileLock(path, { holder: "process 3" }));
    expect(readFileSync(`${path}.holder`, "utf8")).toBe("process 3");
    again.release();
  });

  it("does not forget its holder when others ask", () => {
    const lock = acquired(acquireFileLock(path, { holder: "process 1" }));
    for (let i = 0; i < 3; i++) expect(acquireFileLock(path, { holder: "process 2" })).toEqual({ heldBy: "process 1" });
    lock.release();
  });

  it.each(["SIGKILL", "SIGTERM"] as const)("is free again when its process ends by %s", async (signal) => {
    const child = await holdInChild(path);
    expect(acquireFileLock(path, { holder: "me" })).toEqual({ heldBy: `process ${child.pid}` });
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
    acquired(acquireFileLock(path, { holder: "me" })).release();
  });

  it("fails for a path that cannot be opened", () => {
    expect(() => acquireFileLock(join(dir, "missing", "lock"), { holder: "me" })).toThrow();
  });
});

function acquired(lock: FileLock | FileLockHeld): FileLock {
  if ("heldBy" in lock) throw new Error(`The lock is held by ${lock.heldBy}.`);
  return lock;
}

async function holdInChild(path: string): Promise<ChildProcess> {
  const program = `
    const { acquireFileLock } = await import(${JSON.stringify(module)});
    globalThis.lock = acquireFileLock(${JSON.stringify(path)}, { holder: "process " + process.pid });
    setInterval(() => {}, 1000);
    console.log("held");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}
