/**
 * Loop devices of the driver's images.
 *
 * 1. A device is known by its number. Its device file is the driver's own where it has numbers of its own.
 * 2. A device is used for an image only if the kernel reports that very file, by its inode, as what is behind it.
 * 3. A device that is no longer needed is removed where that is possible: a free one would be the next that some
 *    program of the machine gets.
 */
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "#base";
import { GrpcError } from "#grpc";
import { ProgramError, type RunProgram } from "./command.ts";

export const LOOP_MAJOR = 7;
const SYS = "/sys/dev/block";
const DETACH_MS = 5_000;
const RETRY_MS = 10;
const DELETED = " (deleted)";
/** LOOP_CTL_REMOVE. */
const REMOVE =
  "open(my $control, '+<', '/dev/loop-control') or exit 1; ioctl($control, 0x4C81, int($ARGV[0])) or exit 1";

export interface LoopDevice {
  readonly number: string;
  /** The path of its file. */
  readonly file: string;
  readonly isDeleted: boolean;
}

/** Numbers that are the driver's alone. */
export interface LoopPool {
  readonly first: number;
  readonly count: number;
  /** Where its device files are. */
  readonly dir: string;
}

export interface LoopDevices {
  /** Those that have a file behind them. */
  list(): Promise<readonly LoopDevice[]>;
  attach(file: string, readOnly: boolean): Promise<string>;
  detach(number: string): Promise<void>;
  refresh(number: string): Promise<void>;
  /** Its device file. */
  pathOf(number: string): Promise<string>;
}

export function loopDevices(run: RunProgram, clock: Clock, pool?: LoopPool): LoopDevices {
  const pathOf = async (number: string) => {
    const minor = minorOf(number);
    if (pool === undefined) return `/dev/loop${minor}`;
    await mkdir(pool.dir, { recursive: true, mode: 0o700 });
    const path = join(pool.dir, `loop${minor}`);
    const found = await stat(path).catch(() => undefined); // there is none yet
    if (found?.isBlockDevice() === true && numberOf(found.rdev) === number) return path;
    await rm(path, { force: true });
    await run("mknod", ["-m", "600", path, "b", String(LOOP_MAJOR), String(minor)]);
    return path;
  };

  const list = async (): Promise<LoopDevice[]> => {
    const names = (await readdir(SYS)).filter((name) => name.startsWith(`${LOOP_MAJOR}:`) && isOurs(name, pool));
    const files = await Promise.all(
      names.map((name) => readFile(join(SYS, name, "loop/backing_file"), "utf8").catch(() => undefined)),
    ); // free
    return names.flatMap((number, at) => {
      const file = files[at]?.trimEnd();
      if (file === undefined) return [];
      const isDeleted = file.endsWith(DELETED);
      return [{ number, file: isDeleted ? file.slice(0, -DELETED.length) : file, isDeleted }];
    });
  };

  const isBehind = async (number: string, file: string) => {
    const columns = ["--noheadings", "--output", "BACK-INO,BACK-MAJ:MIN"];
    const [inode, device] = (await run("losetup", ["--list", ...columns, await pathOf(number)])).trim().split(/\s+/);
    const { ino, dev } = await stat(file);
    return inode === String(ino) && device === numberOf(dev);
  };

  return {
    list,
    pathOf,
    async attach(file, readOnly) {
      for (const device of await list()) {
        if (device.file !== file || device.isDeleted) continue;
        if (await isBehind(device.number, file)) return device.number;
        throw new GrpcError("INTERNAL", `device ${device.number} is for another file with the name ${file}`);
      }
      const options = readOnly ? ["--read-only"] : [];
      if (pool === undefined) {
        const path = (await run("losetup", ["--find", "--show", ...options, file])).trim();
        return numberOf((await stat(path)).rdev);
      }
      const number = await bindFree(pool, await list(), async (free) =>
        run("losetup", [...options, await pathOf(free), file]),
      );
      if (!(await isBehind(number, file))) throw new GrpcError("INTERNAL", `device ${number} has not the file ${file}`);
      return number;
    },
    async detach(number) {
      const file = (await list()).find((device) => device.number === number)?.file;
      const deadline = clock.monotonic() + DETACH_MS;
      // The kernel waits for the last one who has it open, be it only to look at it.
      for (let tries = 0; (await list()).some((device) => device.number === number && device.file === file); tries++) {
        if (clock.monotonic() >= deadline) throw new GrpcError("INTERNAL", `device ${number} is still in use`);
        if (tries > 0) await clock.sleep(RETRY_MS);
        else await run("losetup", ["--detach", await pathOf(number)]).catch(ignoreGone);
      }
      if (pool === undefined) return;
      await rm(join(pool.dir, `loop${minorOf(number)}`), { force: true });
      await run("perl", ["-e", REMOVE, String(minorOf(number))]).catch(() => {}); // somebody has it open, or no perl
    },
    async refresh(number) {
      await run("losetup", ["--set-capacity", await pathOf(number)]);
    },
  };
}

/** The first free number of the pool. */
async function bindFree(
  { first, count }: LoopPool,
  taken: readonly LoopDevice[],
  bind: (number: string) => Promise<unknown>,
): Promise<string> {
  const used = new Set(taken.map(({ number }) => number));
  const free = Array.from({ length: count }, (_, at) => `${LOOP_MAJOR}:${first + at}`).find(
    (number) => !used.has(number),
  );
  if (free === undefined)
    throw new GrpcError("RESOURCE_EXHAUSTED", `all ${count} loop devices of this node are in use`);
  await bind(free);
  return free;
}

export function numberOf(rdev: number): string {
  return `${(rdev >> 8) & 0xfff}:${(rdev & 0xff) | ((rdev >> 12) & 0xfff00)}`;
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof ProgramError) || !error.message.includes("No such device or address")) throw error;
}

function minorOf(number: string): number {
  return Number(number.slice(number.indexOf(":") + 1));
}

function isOurs(number: string, pool: LoopPool | undefined): boolean {
  const minor = minorOf(number);
  return pool === undefined || (minor >= pool.first && minor < pool.first + pool.count);
}
