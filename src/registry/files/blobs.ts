/**
 * The bytes of blobs and manifests, once each, whatever the number of repositories that have them.
 *
 *     blobs/sha256/3f…    the bytes
 *
 * 1. A file has its name only when all of its bytes are on the disk and have that digest.
 */
import { createReadStream, type ReadStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Digest } from "./digests.ts";
import { syncFolder, unlessMissing, writeWhole } from "./small-files.ts";

export interface Span {
  readonly start: number;
  /** The last byte. */
  readonly end: number;
}

export class Blobs {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Undefined if there is no such blob. */
  async size(digest: Digest): Promise<number | undefined> {
    return stat(this.#path(digest)).then(({ size }) => size, unlessMissing(undefined));
  }

  read(digest: Digest, span?: Span): ReadStream {
    return createReadStream(this.#path(digest), span);
  }

  /** Takes over a file whose bytes have this digest and are on the disk. */
  async adopt(file: string, digest: Digest): Promise<void> {
    const path = this.#path(digest);
    await mkdir(dirname(path), { recursive: true });
    await rename(file, path);
    await syncFolder(dirname(path));
  }

  async put(bytes: Uint8Array, digest: Digest): Promise<void> {
    if ((await this.size(digest)) === undefined) await writeWhole(this.#path(digest), bytes);
  }

  async remove(digest: Digest): Promise<void> {
    await rm(this.#path(digest), { force: true });
  }

  #path({ algorithm, hex }: Digest): string {
    return join(this.#dir, algorithm, hex);
  }
}
