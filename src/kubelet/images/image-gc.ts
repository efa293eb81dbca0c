/**
 * Removes unused images when the disk is 85 % full, the longest unused first, until it is 80 % full.
 *
 * Imported images (`localhost/…`) cannot be pulled again, and sandboxes need the pause image: both stay.
 */
import { type Clock, isAbort, type Logger } from "#base";
import type { MachineUsage } from "../host/index.ts";
import type { Image, Runtime } from "../runtime/runtime.ts";
import type { ImageAccess } from "./pull-records.ts";

export interface ImageGcOptions {
  readonly runtime: Pick<Runtime, "images" | "listContainers">;
  readonly usage: () => Promise<Pick<MachineUsage, "diskBytes" | "diskAvailableBytes">>;
  readonly highPercent: number;
  readonly lowPercent: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onRemoved?: (() => void) | undefined;
  /** Records of images that are gone are forgotten. */
  readonly access?: Pick<ImageAccess, "prune"> | undefined;
}

const CHECK_MS = 300_000;
const MIN_AGE_MS = 120_000;

/** When an image was first seen and last used. */
export interface ImageHistory {
  readonly seenMs: number;
  readonly usedMs: number;
}

export class ImageGc {
  readonly #options: ImageGcOptions;
  #history: ReadonlyMap<string, ImageHistory> = new Map();

  constructor(options: ImageGcOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    for (;;) {
      try {
        await this.#collect(signal);
      } catch (error) {
        if (isAbort(error, signal)) return;
        log.warn("image garbage collection failed", { error });
      }
      await clock.sleep(CHECK_MS, signal);
    }
  }

  /** Removes all unused images: the node is low on disk space. */
  async removeAll(signal: AbortSignal): Promise<void> {
    await this.#remove(Number.POSITIVE_INFINITY, signal);
  }

  async #collect(signal: AbortSignal): Promise<void> {
    const { usage, highPercent, lowPercent } = this.#options;
    const { diskBytes, diskAvailableBytes } = await usage();
    const usedPercent = 100 - (diskAvailableBytes / diskBytes) * 100;
    const isHigh = usedPercent >= highPercent;
    await this.#remove(isHigh ? diskBytes * (1 - lowPercent / 100) - diskAvailableBytes : 0, signal);
  }

  async #remove(bytes: number, signal: AbortSignal): Promise<void> {
    const { runtime, clock, log, access } = this.#options;
    const beganMs = clock.now();
    const [images, containers] = await Promise.all([
      runtime.images.list(signal),
      runtime.listContainers(undefined, signal),
    ]);
    const inUse = new Set(containers.flatMap(({ image, imageRef }) => [image, imageRef]));
    this.#history = historyOf(this.#history, images, inUse, clock.now());
    for (const { id, repoTags, sizeBytes } of imagesToRemove(images, inUse, this.#history, bytes, clock.now())) {
      log.info("unused image removed", { image: repoTags[0] ?? id, sizeBytes });
      await runtime.images.remove(id, signal);
      this.#options.onRemoved?.();
    }
    await access?.prune(new Set(images.map(({ id }) => id)), beganMs);
  }
}

export function historyOf(
  before: ReadonlyMap<string, ImageHistory>,
  images: readonly Image[],
  inUse: ReadonlySet<string>,
  nowMs: number,
): ReadonlyMap<string, ImageHistory> {
  return new Map(
    images.map((image) => {
      const known = before.get(image.id) ?? { seenMs: nowMs, usedMs: 0 };
      return [image.id, isUsed(image, inUse) ? { ...known, usedMs: nowMs } : known];
    }),
  );
}

/** The longest unused first, until `bytes` are freed. */
export function imagesToRemove(
  images: readonly Image[],
  inUse: ReadonlySet<string>,
  history: ReadonlyMap<string, ImageHistory>,
  bytes: number,
  nowMs: number,
): readonly Image[] {
  const since = ({ id }: Image) => history.get(id) ?? { seenMs: nowMs, usedMs: 0 };
  const candidates = images
    .filter((image) => !isUsed(image, inUse) && !isKept(image) && nowMs - since(image).seenMs >= MIN_AGE_MS)
    .sort((a, b) => since(a).usedMs - since(b).usedMs || since(a).seenMs - since(b).seenMs);
  const chosen: Image[] = [];
  for (let freed = 0; freed < bytes; ) {
    const next = candidates.shift();
    if (next === undefined) break;
    chosen.push(next);
    freed += next.sizeBytes;
  }
  return chosen;
}

function isUsed({ id, repoTags, repoDigests }: Image, inUse: ReadonlySet<string>): boolean {
  return [id, ...repoTags, ...repoDigests].some((name) => inUse.has(name));
}

function isKept({ repoTags, pinned = false }: Image): boolean {
  return pinned || repoTags.some((tag) => tag.startsWith("localhost/") || /(^|\/)pause:/.test(tag));
}
