/** A "node" with a user namespace for tests of the driver: one process, whose root is nobody on this machine. */
import { execFileSync, spawn } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NodePlace } from "../linux/mounts-in-node.ts";

const ROOT = 0x4000_0000;
/** Mounts of other tests would stay in use as long as the node has copies of them. $0: its own folder. */
const ALONE =
  "awk '{ print $5 }' /proc/self/mountinfo | grep /csi- | grep -v \"^$0\" | xargs -r umount --lazy 2> /dev/null; " +
  'exec "$@"';

export interface TestNode extends Disposable {
  readonly place: NodePlace;
  kill(): void;
  /** What a program in the node prints. */
  run(script: string, ...args: readonly string[]): string;
}

/** `dir`: becomes the node's; mounts below `dir/shown` appear in it. */
export function startTestNode(dir: string): TestNode {
  const shown = join(dir, "shown");
  mkdirSync(shown);
  chownSync(dir, ROOT, ROOT);
  execFileSync("mount", ["--bind", shown, shown]);
  execFileSync("mount", ["--make-private", shown]);
  execFileSync("mount", ["--make-shared", shown]);
  // It becomes the program: the process is the first of its namespaces that can be entered.
  const own = ["--mount", "--propagation", "slave"];
  const child = spawn("unshare", [...own, "sh", "-c", ALONE, dir, "unshare", "--user", ...own, "sleep", "600"], {
    stdio: "ignore",
  });
  const { pid = 0 } = child;
  for (let tries = 0; name(pid) !== "sleep"; tries++) {
    if (tries > 500) throw new Error("there is no user namespace");
    execFileSync("sleep", ["0.01"]);
  }
  for (const map of ["uid_map", "gid_map"]) writeFileSync(`/proc/${pid}/${map}`, `0 ${ROOT} 65536`);
  const enter = ["nsenter", `--target=${pid}`, "--user", "--mount", "--"];
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const startTicks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  const [program = "", ...first] = enter;
  return {
    place: { pid, startTicks, enter, folder: shown, folderInside: shown, rootId: ROOT },
    run: (script, ...args) =>
      execFileSync(program, [...first, "sh", "-c", script, "sh", ...args], { encoding: "utf8", stdio: "pipe" }),
    kill: () => void child.kill("SIGKILL"),
    [Symbol.dispose]() {
      child.kill("SIGKILL");
      execFileSync("umount", ["--recursive", shown]);
    },
  };
}

function name(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
}
