/** Two commands on a fresh checkout: the set-up runs once, and a holder that died does not keep the others waiting. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const scripts = join(import.meta.dirname, "..", "..", "scripts");
const WAITING = "another set-up of this checkout is running";
const flock = (process.env.PATH ?? "").split(delimiter).some((dir) => existsSync(join(dir, "flock")));

let root: string;
const running: ChildProcess[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "k8ts-setup-"));
  cpSync(join(scripts, "setup.mjs"), join(root, "scripts/setup.mjs"));
  cpSync(join(scripts, "setup"), join(root, "scripts/setup"), { recursive: true });
  writeFileSync(join(root, "package-lock.json"), "{}");
  mkdirSync(join(root, "bin"));
  for (const tool of ["sh", "flock", "true", "mkdir", "rmdir", "sleep"])
    symlinkSync(onPath(tool), join(root, "bin", tool));
  // An npm that notes each run, refuses to run beside another, and ends when it may.
  writeFileSync(
    join(root, "bin/npm"),
    `#!/bin/sh
echo began >> "${root}/npm.log"
mkdir "${root}/busy" || exit 1
while [ ! -e "${root}/may-end" ]; do sleep 0.05; done
rmdir "${root}/busy"
mkdir -p "${root}/node_modules"
`,
    { mode: 0o755 },
  );
});

afterEach(() => {
  for (const { pid = 0, exitCode, signalCode } of running.splice(0))
    if (exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

it.skipIf(!flock)("installs once for two commands at the same time", { timeout: 30_000 }, async () => {
  const first = setUp();
  await vi.waitFor(() => expect(installations()).toBe(1), { timeout: 15_000 });
  const second = setUp();
  await vi.waitFor(() => expect(second.output()).toContain(WAITING), { timeout: 15_000 });
  writeFileSync(join(root, "may-end"), "");
  expect([await first.code, await second.code, installations()]).toEqual([0, 0, 1]);
});

it.skipIf(!flock)("goes on when the holder has died", { timeout: 30_000 }, async () => {
  const first = setUp();
  await vi.waitFor(() => expect(installations()).toBe(1), { timeout: 15_000 });
  const second = setUp();
  await vi.waitFor(() => expect(second.output()).toContain(WAITING), { timeout: 15_000 });
  process.kill(-first.pid, "SIGKILL");
  rmSync(join(root, "busy"), { recursive: true });
  writeFileSync(join(root, "may-end"), "");
  expect([await second.code, installations()]).toEqual([0, 2]);
});

function onPath(tool: string): string {
  const dirs = (process.env.PATH ?? "").split(delimiter);
  return dirs.map((dir) => join(dir, tool)).find(existsSync) ?? tool;
}

function installations(): number {
  const log = join(root, "npm.log");
  return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").length : 0;
}

function setUp() {
  const child = spawn(process.execPath, [join(root, "scripts/setup.mjs")], {
    env: { PATH: join(root, "bin") },
    detached: true, // a group of its own: killed as a whole
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.push(child);
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  return { pid: child.pid ?? 0, output: () => text, code: once(child, "exit").then(([code]) => code) };
}
