/** What every part of the set-up does: show a step, run a command, tell in one sentence what failed, put a folder in its place. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const tools = join(root, ".tools");

/** The Node that the lock file names, once it is installed. */
export function pinnedNode() {
  const pinned = join(root, "node_modules", ".bin", "node");
  return existsSync(pinned) ? pinned : process.execPath;
}

export function step(title, work) {
  console.log(`k8ts: ${title} …`);
  const start = Date.now();
  work();
  console.log(`k8ts: done in ${((Date.now() - start) / 1000).toFixed(1)} s`);
}

export function run(command, args, { sentence, cwd = root }) {
  const result = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (result.status !== 0) throw new Error(`${sentence}: ${reason(result)}`);
}

/** `fill` makes `unpacked` below a folder of its own; only when it is complete, it becomes .tools/<name>. */
export function intoTools(name, fill) {
  mkdirSync(tools, { recursive: true });
  const work = mkdtempSync(join(tools, "fetch-"));
  try {
    fill(work, join(work, "unpacked"));
    rmSync(join(tools, name), { recursive: true, force: true });
    renameSync(join(work, "unpacked"), join(tools, name));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The line of a failed command that says most: its first error line, else its last words. */
export function reason({ error, stderr, status }) {
  if (error) return error.message;
  const lines = (stderr ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const telling = lines.find((line) => /^(npm error (?!code|errno|syscall|path)|E: )/.test(line)) ?? lines.at(-1);
  return telling?.replace(/^(npm error|E:)\s*/, "") ?? `exit code ${status}`;
}

export function onPath(command) {
  return (process.env.PATH ?? "").split(delimiter).some((dir) => dir !== "" && existsSync(join(dir, command)));
}
