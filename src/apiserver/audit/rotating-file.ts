/**
 * A log file that is rotated when it has grown to its limit.
 *
 *     audit.log ──► audit-2030-01-02T03-04-05.678.log (.gz) ···► removed: too many, or too old
 *
 * 1. The size counts what was in the file before. No line is split between two files.
 * 2. One writer at a time.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "#base";

const DAY_MS = 24 * 60 * 60 * 1000;
const STAMP = /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3})$/;

export interface RotationLimits {
  /** 0: never rotated. */
  readonly maxBytes: number;
  /** Of rotated files; 0: any number. */
  readonly maxBackups: number;
  /** 0: any age. */
  readonly maxAgeDays: number;
  readonly compress: boolean;
}

type Append = (file: FileHandle, bytes: Buffer) => Promise<void> | void;

export class RotatingFile {
  readonly #path: string;
  readonly #limits: RotationLimits;
  readonly #clock: Clock;
  #file: FileHandle | undefined;
  /** Devices, pipes and the like are not rotated. */
  #rotates = true;
  #bytes = 0;
  readonly #write: Append;

  /** `append`: how bytes are written. Default: asynchronously. */
  constructor(
    path: string,
    limits: RotationLimits,
    clock: Clock,
    append: Append = (file, bytes) => file.appendFile(bytes),
  ) {
    this.#path = path;
    this.#limits = limits;
    this.#clock = clock;
    this.#write = append;
  }

  async write(lines: readonly Buffer[]): Promise<void> {
    const { maxBytes } = this.#limits;
    await this.#ready();
    let group: Buffer[] = [];
    let bytes = 0;
    for (const line of lines) {
      if (this.#rotates && maxBytes > 0 && this.#bytes + bytes > 0 && this.#bytes + bytes + line.length > maxBytes) {
        await this.#append(group, bytes);
        await this.#rotate();
        await this.#ready();
        group = [];
        bytes = 0;
      }
      group.push(line);
      bytes += line.length;
    }
    await this.#append(group, bytes);
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  /** Creates the file if it does not exist. Throws if it cannot be written. */
  async open(): Promise<void> {
    await this.#ready();
  }

  async #ready(): Promise<FileHandle> {
    if (this.#file !== undefined) return this.#file;
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const file = await open(this.#path, "a", 0o600);
    const found = await file.stat();
    this.#bytes = found.size;
    this.#rotates = found.isFile();
    this.#file = file;
    return file;
  }

  async #append(group: readonly Buffer[], bytes: number): Promise<void> {
    if (group.length === 0) return;
    const file = await this.#ready();
    await this.#write(file, group.length === 1 && group[0] !== undefined ? group[0] : Buffer.concat(group));
    this.#bytes += bytes;
  }

  async #rotate(): Promise<void> {
    await this.close();
    const aside = await this.#freeName();
    await rename(this.#path, aside);
    if (this.#limits.compress) {
      await pipeline(createReadStream(aside), createGzip(), createWriteStream(`${aside}.gz`, { mode: 0o600 }));
      await rm(aside);
    }
    await this.#removeOld();
  }

  async #freeName(): Promise<string> {
    const extension = extname(this.#path);
    const stem = join(dirname(this.#path), basename(this.#path, extension));
    for (let ms = this.#clock.now(); ; ms++) {
      const name = `${stem}-${stampOf(ms)}${extension}`;
      const taken = await Promise.all(
        [name, `${name}.gz`].map((one) =>
          stat(one).then(
            () => true,
            () => false,
          ),
        ),
      );
      if (!taken.includes(true)) return name;
    }
  }

  async #removeOld(): Promise<void> {
    const { maxBackups, maxAgeDays } = this.#limits;
    const folder = dirname(this.#path);
    const extension = extname(this.#path);
    const prefix = `${basename(this.#path, extension)}-`;
    const found = (await readdir(folder)).flatMap((name) => {
      const plain = name.endsWith(".gz") ? name.slice(0, -3) : name;
      if (!plain.startsWith(prefix) || !plain.endsWith(extension)) return [];
      const ms = stampMs(plain.slice(prefix.length, plain.length - extension.length));
      return ms === undefined ? [] : [{ name, ms }];
    });
    found.sort((a, b) => b.ms - a.ms);
    const oldest = maxAgeDays > 0 ? this.#clock.now() - maxAgeDays * DAY_MS : Number.NEGATIVE_INFINITY;
    const spare = found.filter(({ ms }, i) => (maxBackups > 0 && i >= maxBackups) || ms < oldest);
    await Promise.all(spare.map(({ name }) => rm(join(folder, name), { force: true })));
  }
}

function stampOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, -1).replaceAll(":", "-");
}

function stampMs(stamp: string): number | undefined {
  const [, day, hour, minute, second] = STAMP.exec(stamp) ?? [];
  if (day === undefined) return undefined;
  return new Date(`${day}${hour}:${minute}:${second}Z`).getTime();
}
