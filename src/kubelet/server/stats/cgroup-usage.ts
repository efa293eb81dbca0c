/** Reads the usage of a cgroup, v1 or v2. Undefined if there is no such cgroup. */
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { Hierarchies } from "../../host/index.ts";
import {
  type CgroupDetails,
  type CgroupFile,
  type CgroupUsage,
  cgroupDetailsOf,
  cgroupUsageOf,
  DETAIL_FILES,
  type FileTexts,
  USAGE_FILES,
} from "./cgroup-files.ts";

export type { CgroupDetails, CgroupUsage } from "./cgroup-files.ts";

export async function cgroupUsage(hierarchies: Hierarchies, cgroup: string): Promise<CgroupUsage | undefined> {
  const { version } = hierarchies;
  return cgroupUsageOf(version, await textsOf(hierarchies, cgroup, USAGE_FILES[version]));
}

export async function cgroupDetails(hierarchies: Hierarchies, cgroup: string): Promise<CgroupDetails> {
  const { version } = hierarchies;
  return cgroupDetailsOf(version, await textsOf(hierarchies, cgroup, DETAIL_FILES[version]));
}

/** A process in the cgroup; undefined if there is none. */
export async function processIn({ version, mounts }: Hierarchies, cgroup: string): Promise<number | undefined> {
  const text = await textOf(join(mounts.get(version === 2 ? "all" : "memory") ?? "", cgroup, "cgroup.procs"));
  const [first = ""] = (text ?? "").split("\n");
  return first === "" ? undefined : Number(first);
}

export interface OpenFiles {
  readonly files: number;
  readonly sockets: number;
}

/** What processes have open. Processes that end meanwhile count nothing. */
export async function openFiles(pids: readonly number[]): Promise<OpenFiles> {
  let [files, sockets] = [0, 0];
  for (const pid of pids) {
    const dir = `/proc/${pid}/fd`;
    const open = await readdir(dir).catch(absent([]));
    files += open.length;
    const targets = await Promise.all(open.map((each) => readlink(join(dir, each)).catch(absent(""))));
    sockets += targets.filter((target) => target.startsWith("socket:")).length;
  }
  return { files, sockets };
}

async function textsOf({ mounts }: Hierarchies, cgroup: string, files: readonly CgroupFile[]): Promise<FileTexts> {
  const read = files.map(async ([controller, name]) => {
    const root = mounts.get(controller);
    const text = root === undefined ? undefined : await textOf(join(root, cgroup, name));
    return text === undefined ? [] : [[name, text] as const];
  });
  return new Map((await Promise.all(read)).flat());
}

/** Undefined if there is no such file, or the kernel has it switched off. */
async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(absent(undefined));
}

const ABSENT = new Set(["ENOENT", "ENODEV", "EOPNOTSUPP", "ENOTSUP", "ESRCH", "EACCES", "EINVAL"]);

function absent<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (ABSENT.has(error.code ?? "")) return value;
    throw error;
  };
}
