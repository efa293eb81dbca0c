/** The built-in images, built from programs of this machine. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { BUSYBOX_IMAGE, busyboxImage, PAUSE_IMAGE, pauseImage } from "./built-in.ts";
import type { Machine } from "./elf.ts";
import { needsLibraries } from "./elf.ts";

const BUSYBOX = ["/bin/busybox", "/usr/bin/busybox", "/bin/busybox-static"];

export interface BuiltInImage {
  readonly name: string;
  readonly archive: Uint8Array;
}

/** The busybox image needs a static busybox on this machine. */
export async function machineImages(): Promise<BuiltInImage[]> {
  const machine: Machine = process.arch === "arm64" ? "arm64" : "x64";
  const pause = { name: PAUSE_IMAGE, archive: pauseImage(machine) };
  for (const path of BUSYBOX) {
    const program = await readFile(path).catch(() => undefined); // not there: try the next
    if (program === undefined || needsLibraries(program)) continue;
    const { stdout } = await promisify(execFile)(path, ["--list"]);
    return [pause, { name: BUSYBOX_IMAGE, archive: busyboxImage(machine, program, stdout.trim().split("\n")) }];
  }
  return [pause];
}
