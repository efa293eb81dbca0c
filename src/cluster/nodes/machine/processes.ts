/**
 * Processes that outlive this one, and can be identified afterwards.
 *
 * 1. A process is identified by its PID, start time and boot ID: a PID may be reused, and no signal must reach another
 *    process.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, renameSync, statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import type { Clock } from "#base";
import { CommandError, nodeEnv } from "./command.ts";

export interface ProcessId {
  readonly pid: number;
  /** Boot ID and start time. */
  readonly started: string;
}

const POLL_MS = 20;
const MAX_LOG_BYTES = 10_000_000;

/** One malloc arena for all threads: separate ones take some ten megabytes more. */
export const LEAN_ENV = { MALLOC_ARENA_MAX: "1" };

export interface Daemon {
  readonly program: string;
  readonly args: readonly string[];
  /** Path of the network namespace that it runs in. */
  readonly namespace: string;
  /** Its output is appended to this file; a large file is rotated first. */
  readonly logFile: string;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** Survives this process. */
export async function startDaemon({ program, args, namespace, logFile, env }: Daemon): Promise<ProcessId> {
  if (existsSync(logFile) && statSync(logFile).size > MAX_LOG_BYTES) renameSync(logFile, `${logFile}.old`);
  const log = openSync(logFile, "a", 0o600);
  try {
    // It becomes the program: the PID stays the same.
    const child = spawn("nsenter", [`--net=${namespace}`, "--", program, ...args], {
      detached: true,
      // It must not keep this process's working directory busy.
      cwd: "/",
      stdio: ["ignore", log, log],
      env: { ...nodeEnv(), ...env },
    });
    await once(child, "spawn");
    child.unref();
    if (child.pid === undefined) throw new CommandError(`${program} could not be started`);
    return (await processId(child.pid)) ?? { pid: child.pid, started: "ended at once" };
  } finally {
    closeSync(log);
  }
}

/** Undefined if there is none, or only a zombie. */
export async function processId(pid: number): Promise<ProcessId | undefined> {
  const [stat, boot] = await Promise.all([readProc(`/proc/${pid}/stat`), bootId()]);
  if (stat === undefined) return undefined;
  const fields = statFields(stat);
  return fields.state === "Z" || fields.state === "X" ? undefined : { pid, started: `${boot} ${fields.startTicks}` };
}

/** The program's name is in parentheses and may contain some: parse after the last one. */
export function statFields(stat: string): { readonly state: string; readonly startTicks: string } {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", startTicks: fields[19] ?? "" };
}

export async function isAlive(process: ProcessId): Promise<boolean> {
  return (await processId(process.pid))?.started === process.started;
}

/** Also compares the boot ID: processes of an earlier boot are gone. */
export function startedBefore(one: ProcessId, other: ProcessId): boolean {
  const ticks = ({ started }: ProcessId) => Number(started.split(" ").at(-1));
  return ticks(one) < ticks(other);
}

/** Undefined if it has exited. */
export async function processArgs(pid: number): Promise<string[]> {
  return (await readProc(`/proc/${pid}/cmdline`))?.split("\0") ?? [];
}

/** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when it has exited. */
export async function endProcess(target: ProcessId, graceMs: number, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + graceMs;
  let signal: NodeJS.Signals | undefined = graceMs > 0 ? "SIGTERM" : "SIGKILL";
  while (await isAlive(target)) {
    if (signal !== undefined) sendSignal(target.pid, signal);
    signal = clock.monotonic() >= deadline ? "SIGKILL" : undefined;
    await clock.sleep(POLL_MS);
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Processes with matching arguments. */
export async function findProcesses(isWanted: (args: readonly string[]) => boolean): Promise<ProcessId[]> {
  const found: ProcessId[] = [];
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const commandLine = await readProc(`/proc/${entry}/cmdline`);
    if (commandLine === undefined || !isWanted(commandLine.split("\0"))) continue;
    const id = await processId(Number(entry));
    if (id !== undefined) found.push(id);
  }
  return found;
}

async function bootId(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
}

async function readProc(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ESRCH") return undefined;
    throw error;
  });
}
