/**
 * Which images the kubelet has pulled, and with whose credentials: files that survive it.
 *
 *     image_manager/pulling/<image>     a pull was begun              (ImagePullIntent)
 *     image_manager/pulled/<image id>   it is there, by these rights  (ImagePulledRecord)
 *
 * 1. A pull whose kubelet died counts as pulled by it, with nobody's credentials: the next Pod has to show its own.
 * 2. What cannot be read or written never grants access.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Logger } from "#base";
import type { Image } from "../runtime/runtime.ts";
import type { Credential } from "./keyring.ts";
import {
  accessBy,
  mustVerify,
  type PullCredentials,
  type PulledRecord,
  shownBy,
  type Verification,
  wasPulledAs,
  withCredentials,
} from "./pull-access.ts";

export interface ImageAccess {
  /** Before the pull. */
  intend(image: string): Promise<void>;
  /** `used`: the credentials with which it succeeded; undefined: none were needed. */
  pulled(image: string, imageRef: string, used: Credential | undefined): Promise<void>;
  failed(image: string): Promise<void>;
  /** Whether a Pod with these credentials may use an image that is there. */
  mayUse(image: string, present: PresentImage, credentials: readonly Credential[]): Promise<boolean>;
  /** Forgets images that are gone, but none that was pulled since. */
  prune(imageRefs: ReadonlySet<string>, untilMs: number): Promise<void>;
}

/** An image of the node, with its names. */
export type PresentImage = Pick<Image, "id" | "repoTags">;

export interface PullRecordsOptions {
  readonly rootDir: string;
  readonly verification: Verification;
  readonly images: () => Promise<readonly Image[]>;
  readonly clock: Clock;
  readonly log: Logger;
}

const API_VERSION = "kubelet.config.k8s.io/v1beta1";

export function pullRecords({ rootDir, verification, images, clock, log }: PullRecordsOptions): ImageAccess {
  const pulling = new RecordFolder<{ readonly image: string }>(
    join(rootDir, "image_manager/pulling"),
    "ImagePullIntent",
  );
  const pulled = new RecordFolder<PulledRecord>(join(rootDir, "image_manager/pulled"), "ImagePulledRecord");
  const ongoing = new Map<string, number>();
  let changing: Promise<unknown> = Promise.resolve();
  /** One after another: they read, and write what they have read. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = changing.then(work, work);
    changing = turn;
    return turn;
  };
  const record = async (image: string, imageRef: string, shown: PullCredentials | undefined) => {
    const before = await pulled.read(imageRef).catch(() => undefined); // damaged: written anew
    const now = new Date(clock.now()).toISOString();
    await pulled.write(imageRef, withCredentials(before, imageRef, image, shown, now));
  };
  const end = async (image: string) => {
    const left = (ongoing.get(image) ?? 1) - 1;
    if (left > 0) ongoing.set(image, left);
    else {
      await pulling.remove(image);
      ongoing.delete(image);
    }
  };
  let recovered: Promise<void> | undefined;
  const recover = async () => {
    const intents = new Set((await pulling.list()).map(({ image }) => image));
    if (intents.size === 0) return;
    for (const { id, repoTags, repoDigests } of await images()) {
      for (const name of [...repoTags, ...repoDigests]) {
        for (const image of [...intents].filter((each) => each === name || `docker.io/${each}` === name)) {
          await record(image, id, undefined);
          await pulling.remove(image);
        }
      }
    }
  };
  const ready = () => {
    recovered ??= recover().catch((error: unknown) => {
      recovered = undefined;
      throw error;
    });
    return recovered;
  };

  return {
    intend: (image) =>
      inTurn(async () => {
        await ready();
        await pulling.write(image, { image });
        ongoing.set(image, (ongoing.get(image) ?? 0) + 1);
      }),
    pulled: (image, imageRef, used) =>
      inTurn(async () => {
        await record(image, imageRef, shownBy(used));
        await end(image);
      }).catch((error: unknown) => log.error("the record of a pulled image could not be written", { image, error })),
    failed: (image) =>
      inTurn(() => end(image)).catch((error: unknown) =>
        log.error("the record of a begun pull could not be removed", { image, error }),
      ),
    mayUse: (image, { id: imageRef, repoTags }, credentials) =>
      inTurn(async () => {
        await ready();
        const found = await pulled.read(imageRef);
        const isPulling = ongoing.has(image) || (await pulling.read(image)) !== undefined;
        const byKubelet = isPulling || wasPulledAs(found, image, repoTags);
        if (!mustVerify(verification, image, byKubelet)) return true;
        const verdict = accessBy(found, image, credentials);
        if (verdict.allowed && verdict.learned !== undefined) await record(image, imageRef, verdict.learned);
        return verdict.allowed;
      }).catch((error: unknown) => {
        log.error("records of pulled images could not be read; the image is pulled again", { image, error });
        return false;
      }),
    prune: (imageRefs, untilMs) =>
      inTurn(async () => {
        for (const { imageRef, lastUpdatedTime } of await pulled.list()) {
          if (!imageRefs.has(imageRef) && Date.parse(lastUpdatedTime) < untilMs) await pulled.remove(imageRef);
        }
      }),
  };
}

/** Files named after the hash of what they are about. */
class RecordFolder<T extends object> {
  readonly #dir: string;
  readonly #kind: string;

  constructor(dir: string, kind: string) {
    this.#dir = dir;
    this.#kind = kind;
  }

  async read(key: string): Promise<T | undefined> {
    const text = await readFile(this.#path(key), "utf8").catch(unlessMissing(undefined));
    return text === undefined ? undefined : (JSON.parse(text) as T);
  }

  async write(key: string, value: T): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    const path = this.#path(key);
    await writeFile(`${path}.new`, JSON.stringify({ kind: this.#kind, apiVersion: API_VERSION, ...value }), {
      mode: 0o600,
      flush: true,
    });
    await rename(`${path}.new`, path);
  }

  async remove(key: string): Promise<void> {
    await rm(this.#path(key), { force: true });
  }

  /** Those that can be read. */
  async list(): Promise<T[]> {
    const names = await readdir(this.#dir).catch(unlessMissing([] as string[]));
    const found: T[] = [];
    for (const name of names.filter((each) => !each.endsWith(".new"))) {
      const text = await readFile(join(this.#dir, name), "utf8").catch(unlessMissing(""));
      try {
        found.push(JSON.parse(text) as T);
      } catch {
        // Damaged: it grants nothing, and the next pull writes it anew.
      }
    }
    return found;
  }

  #path(key: string): string {
    return join(this.#dir, `sha256-${createHash("sha256").update(key).digest("hex")}`);
  }
}

function unlessMissing<T>(otherwise: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT") return otherwise;
    throw error;
  };
}
