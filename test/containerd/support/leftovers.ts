/**
 * What a machine has of a cluster's nodes: mounts, namespaces, control groups, processes, links, files. Other clusters
 * of the machine do not count.
 */
import { globSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { obstacles, siteNames } from "../../../src/cluster/nodes/index.ts";

/** Why tests with real containers cannot run here: part of the name of what is skipped. */
export const missing = obstacles().join(" ");

/** Sentences; none when nothing is left. */
export function leftovers(dataDir: string): string[] {
  const { id } = siteNames(dataDir);
  const isOurs = (text: string) => text.includes(`${dataDir}/nodes`) || text.includes(id);
  return [
    ...lines("/proc/self/mountinfo").map((line) => `mount ${line.split(" ")[4]}`),
    ...entries("/run/netns").map((name) => `network namespace ${name}`),
    ...globSync(`/sys/fs/cgroup/*{,/*}/k8ts-${id}`).map((path) => `control group ${path}`),
    ...globSync(`/sys/fs/cgroup/*/k8ts-${id}.volumes`).map((path) => `control group ${path}`),
    ...globSync(`/sys/fs/cgroup/k8ts-${id}`).map((path) => `control group ${path}`),
    ...entries("/sys/class/net").map((name) => `link ${name}`),
    ...entries("/run/k8ts").map((name) => `folder /run/k8ts/${name}`),
    // Released only when nothing is behind them any more.
    ...entries("/run/k8ts/.loops").map((first) => `loop devices from ${first} of ${owner(first)}`),
    ...globSync("/sys/block/loop*/loop/backing_file").map((file) => `loop device of ${text(file)}`),
    ...entries("/proc").filter(isRunning).map(process),
  ].filter(isOurs);
}

function owner(first: string): string {
  try {
    return readlinkSync(`/run/k8ts/.loops/${first}`);
  } catch {
    return ""; // it has just been released
  }
}

function isRunning(pid: string): boolean {
  const stat = text(`/proc/${pid}/stat`);
  return /^\d+$/.test(pid) && stat !== "" && stat.charAt(stat.lastIndexOf(")") + 2) !== "Z";
}

/** Told by its arguments, or by the control group that it is in. */
function process(pid: string): string {
  const command = text(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
  return `process ${pid} ${command} in ${text(`/proc/${pid}/cgroup`).split("\n")[0]}`;
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return []; // it is not there: it holds nothing
  }
}

function lines(file: string): string[] {
  return text(file)
    .split("\n")
    .filter((line) => line !== "");
}

function text(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // the process has just ended
  }
}
