/**
 * Blobs on their way in.
 *
 * 1. An upload belongs to one repository, and gets its bytes in order. Requests to one upload take turns.
 * 2. One that nobody continues for an hour is dropped. None survives the process: clients begin again.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, KeyedLock, type Timer } from "#base";
import { type Digest, Hashes } from "./digests.ts";
import { RegistryError } from "./errors.ts";

const IDLE_MS = 3_600_000;
const MOST_UPLOADS = 1_000;

interface Upload {
  readonly repository: string;
  readonly path: string;
  readonly file: FileHandle;
  readonly hashes: Hashes;
  timer: Timer;
  size: number;
}

export class Uploads {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #uploads = new Map<string, Upload>();
  readonly #lock = new KeyedLock();

  constructor(dir: string, clock: Clock) {
    this.#dir = dir;
    this.#clock = clock;
  }

  /** Returns its id. */
  async begin(repository: string): Promise<string> {
    if (this.#uploads.size >= MOST_UPLOADS)
      throw new RegistryError(429, "TOOMANYREQUESTS", "too many uploads are open");
    await mkdir(this.#dir, { recursive: true });
    const id = randomUUID();
    const path = join(this.#dir, id);
    const file = await open(path, "wx", 0o600);
    this.#uploads.set(id, {
      repository,
      path,
      file,
      hashes: new Hashes(),
      timer: this.#expiry(repository, id),
      size: 0,
    });
    return id;
  }

  size(repository: string, id: string): number {
    return this.#find(repository, id).size;
  }

  /** `start`: where the client believes that the bytes go. Returns the size with them. */
  append(repository: string, id: string, bytes: AsyncIterable<Uint8Array>, start?: number): Promise<number> {
    return this.#lock.run(id, async () => {
      const upload = this.#find(repository, id);
      if (start !== undefined && start !== upload.size) throw outOfOrder(upload.size);
      await receive(upload, bytes);
      return upload.size;
    });
  }

  /** `keep` takes over the file. */
  finish(
    repository: string,
    id: string,
    digest: Digest,
    { bytes, start }: { readonly bytes: AsyncIterable<Uint8Array>; readonly start?: number | undefined },
    keep: (path: string) => Promise<void>,
  ): Promise<void> {
    return this.#lock.run(id, async () => {
      const upload = this.#find(repository, id);
      if (start !== undefined && start !== upload.size) throw outOfOrder(upload.size);
      await receive(upload, bytes);
      const found = upload.hashes.digest(digest.algorithm);
      if (found.text !== digest.text) {
        await this.#drop(id, upload);
        const detail = { digest: digest.text, received: found.text };
        throw new RegistryError(400, "DIGEST_INVALID", "provided digest did not match uploaded content", detail);
      }
      await upload.file.sync();
      await keep(upload.path);
      await this.#drop(id, upload);
    });
  }

  cancel(repository: string, id: string): Promise<void> {
    return this.#lock.run(id, () => this.#drop(id, this.#find(repository, id)));
  }

  async close(): Promise<void> {
    for (const [id, upload] of this.#uploads) await this.#lock.run(id, () => this.#drop(id, upload));
  }

  #find(repository: string, id: string): Upload {
    const upload = this.#uploads.get(id);
    if (upload?.repository !== repository)
      throw new RegistryError(404, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry", { uuid: id });
    upload.timer.cancel();
    upload.timer = this.#expiry(repository, id);
    return upload;
  }

  #expiry(repository: string, id: string): Timer {
    // Its client may end it at the same moment.
    return this.#clock.timer(IDLE_MS, () => void this.cancel(repository, id).catch(() => {}));
  }

  async #drop(id: string, { file, path, timer }: Upload): Promise<void> {
    if (!this.#uploads.delete(id)) return;
    timer.cancel();
    await file.close();
    await rm(path, { force: true });
  }
}

/** What arrives before the client disconnects counts: it may continue from there. */
async function receive(upload: Upload, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of bytes) {
    await upload.file.writeFile(chunk);
    upload.hashes.update(chunk);
    upload.size += chunk.length;
  }
}

function outOfOrder(size: number): RegistryError {
  const headers = { range: rangeOf(size) };
  return new RegistryError(416, "BLOB_UPLOAD_INVALID", "bytes must be sent in order", { received: size }, headers);
}

/** As registries write it: of no bytes, too. */
export function rangeOf(size: number): string {
  return `0-${Math.max(0, size - 1)}`;
}
