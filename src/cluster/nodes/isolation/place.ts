/**
 * Where a node's programs run: in the node's own namespaces, or, where this machine cannot have those, in its network
 * namespace only.
 *
 *     run, write ──► join the node's cgroup ──► give up capabilities ──► enter the namespaces ──► program
 *     start ──► the same, and the node's first process becomes the parent
 *
 * 1. Files that a node can write are read and written from inside: there, links of a hostile Pod lead nowhere else.
 * 2. A program enters all namespaces and has no more capabilities than the node: it may be one that a Pod has replaced.
 * 3. The environment of this process does not reach a node.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { cgroupRoots, deviceRoot, unifiedRoot } from "../machine/cgroups.ts";
import { CommandError, findProgram, run } from "../machine/command.ts";
import { type MountPoint, mounts, parseMounts } from "../machine/mounts.ts";
import { findProcesses, type ProcessId, processId, startDaemon } from "../machine/processes.ts";
import { insideNames, type NodeNames, namespacePath } from "../site/names.ts";
import { WITHHELD } from "./capabilities.ts";
import { NODE_PATH } from "./node-container.ts";

export interface PlaceDaemon {
  readonly program: string;
  readonly args: readonly string[];
  /** As the node sees it. Output is appended; a large file is rotated first. */
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** A cgroup whose devices it may open, instead of those of the node. */
  readonly deviceGroup?: string | undefined;
}

export interface Place {
  /** Paths as programs in this place see them. */
  readonly files: NodeNames;
  readonly isIsolated: boolean;
  /** What a command begins with that runs there; none: as it is. */
  readonly enter: readonly string[];
  /** Returns its output. Throws CommandError if it fails. */
  run(program: string, args: readonly string[], input?: string): Promise<string>;
  /** Survives this process. */
  start(daemon: PlaceDaemon): Promise<ProcessId>;
  /** Replaces the file at once; makes its folder. */
  write(path: string, text: string, mode: number): Promise<void>;
  /** The node's own processes with matching arguments. */
  processes(isWanted: (args: readonly string[]) => boolean): Promise<ProcessId[]>;
  mounts(): Promise<MountPoint[]>;
}

/** Processes of cgroup v2 may be in leaves only, so the node's own have one. */
export const SYSTEM_GROUP = "system";

const ENVIRONMENT = { PATH: NODE_PATH, HOME: "/root", LANG: "C.UTF-8", NODE_COMPILE_CACHE: "/var/cache/k8ts" };

/** Writes itself into cgroups, and becomes the program. */
const JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit; shift; done; shift; exec "$@"';
/** Prints its PID in the node, and becomes the program. $0 is the log. */
const LOGGED =
  'if [ -n "$(find "$0" -size +9765k 2>/dev/null)" ]; then mv -f "$0" "$0.old"; fi; ' +
  'exec 3>&1 >> "$0" 2>&1 && echo $$ >&3 && exec 3>&- && exec "$@"';
const WRITE = 'umask 077 && mkdir -p "$(dirname "$1")" && cat > "$1.new" && chmod "$2" "$1.new" && mv -f "$1.new" "$1"';

/** The place of a running node with its own namespaces. `init`: its first process. */
export async function isolatedPlace(names: NodeNames, init: ProcessId): Promise<Place> {
  const roots = await cgroupRoots();
  const devices = (await deviceRoot()) ?? (await unifiedRoot());
  const groups = (deviceGroup?: string) =>
    roots.map(({ path, type }) =>
      path === devices && deviceGroup !== undefined
        ? join(path, deviceGroup, "cgroup.procs")
        : join(path, names.cgroup, type === "cgroup2" ? SYSTEM_GROUP : "", "cgroup.procs"),
    );
  const needed = (program: string) => findProgram(program) ?? program;
  const withheld = WITHHELD.map((name) => `-${name.toLowerCase()}`).join();
  const user = (await hasUserNamespace(init.pid)) ? ["--user"] : [];
  const entering = (deviceGroup?: string) => [
    ...["-c", JOIN, "sh", ...groups(deviceGroup), "--"],
    ...[needed("setpriv"), `--bounding-set=${withheld}`, needed("nsenter"), `--target=${init.pid}`],
    ...[...user, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--"],
  ];
  const env = ENVIRONMENT;
  return {
    files: insideNames(names),
    isIsolated: true,
    enter: [findProgram("sh") ?? "sh", ...entering()],
    run: (program, args, input) => run("sh", [...entering(), program, ...args], { input, env, as: program }),
    async start({ program, args, logFile, env: more, deviceGroup }) {
      const leaving = ["setsid", "--fork", "sh", "-c", LOGGED, logFile, program, ...args];
      const child = spawn("sh", [...entering(deviceGroup), ...leaving], {
        cwd: "/",
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...env, ...more },
      });
      const ended = once(child, "close") as Promise<[number | null]>;
      const [[code], pid, problem] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
      if (code !== 0) throw new CommandError(`${program} could not be started: ${problem.trim() || `code ${code}`}`);
      return (await processInside(init, pid.trim())) ?? { pid: 0, started: "ended at once" };
    },
    async write(path, content, mode) {
      await run("sh", [...entering(), "sh", "-c", WRITE, "sh", path, mode.toString(8)], {
        input: content,
        env,
        as: path,
      });
    },
    async processes(isWanted) {
      const found = await findProcesses(isWanted);
      const own = await namespaceOf(init.pid);
      const theirs = await Promise.all(found.map(({ pid }) => namespaceOf(pid)));
      return found.filter((_, at) => own !== undefined && theirs[at] === own);
    },
    mounts: async () => parseMounts(await readFile(`/proc/${init.pid}/mountinfo`, "utf8")),
  };
}

/** The place of a node that shares the machine's files, processes and host name: all but the network. */
export function sharedPlace(names: NodeNames): Place {
  return {
    files: names,
    isIsolated: false,
    enter: [],
    run: (program, args, input) => run(program, args, { input }),
    async start({ program, args, logFile, env }) {
      await mkdir(dirname(logFile), { recursive: true });
      return startDaemon({ program, args, logFile, env, namespace: namespacePath(names.namespace) });
    },
    async write(path, content, mode) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(path, content, { mode });
    },
    processes: findProcesses,
    mounts,
  };
}

/** By its PID in the node. */
async function processInside(init: ProcessId, inside: string): Promise<ProcessId | undefined> {
  const own = await namespaceOf(init.pid);
  for (const { pid } of await findProcesses(() => true)) {
    if ((await namespaceOf(pid)) !== own) continue;
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => ""); // it has just exited
    if (/^NSpid:.*\s(\d+)$/m.exec(status)?.[1] === inside) return processId(pid);
  }
  return undefined;
}

/** Besides that of the machine. */
async function hasUserNamespace(pid: number): Promise<boolean> {
  const [own, theirs] = await Promise.all(["self", pid].map((process) => stat(`/proc/${process}/ns/user`)));
  return own?.ino !== theirs?.ino;
}

/** Undefined if it has exited. */
async function namespaceOf(pid: number): Promise<number | undefined> {
  return stat(`/proc/${pid}/ns/pid`).then(
    ({ ino }) => ino,
    () => undefined, // it has just exited
  );
}
