/**
 * Events live for a while after they were last written, then they are deleted.
 *
 *     cache --► queue of what was written, oldest first ···► deletions, a batch at a time
 *
 * 1. One timer for all: all live equally long, so those written first end first, and the queue is in order by itself.
 * 2. An Event that was written again stands in the queue once more; its older place is skipped.
 * 3. Several servers may do this on one store: each deletion is a compare-and-swap on what was to be deleted, and what
 *    is gone is skipped.
 * 4. When a server starts, it knows of an Event only what that says of itself: then the last time it tells counts as
 *    its last write.
 */
import { type KubeObject, parseMicroTime, parseTime, toMs } from "#api";
import type { Revision } from "#store";
import type { StoredObject } from "../cache/stored-object.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { erase } from "../rest/write/persist.ts";

export const DEFAULT_EVENT_TTL_MS = 60 * 60_000;
/** No more often than this: Events end in groups. */
const MIN_WAIT_MS = 5_000;
/** And no less: a queue that was filled anew may begin with one that ends sooner. */
const MAX_WAIT_MS = 60_000;
const BATCH = 500;
const AT_ONCE = 16;

export interface ExpireOptions {
  readonly context: ServerContext;
  readonly resources: Resources;
  readonly ttlMs?: number | undefined;
}

interface Place {
  readonly suffix: string;
  readonly revision: Revision;
  readonly expiresMs: number;
}

/** Runs until its signal aborts. */
export async function expireEvents(
  { context, resources, ttlMs = DEFAULT_EVENT_TTL_MS }: ExpireOptions,
  signal: AbortSignal,
): Promise<void> {
  const events = resources.find("", "v1", "events");
  if (events === undefined) return;
  const queue = new ExpiryQueue(events, context, ttlMs);
  try {
    while (!signal.aborted) {
      await context.clock.sleep(Math.max(MIN_WAIT_MS, Math.min(MAX_WAIT_MS, queue.waitMs())), signal).catch(() => {});
      if (!signal.aborted) await queue.expire(signal);
    }
  } finally {
    queue.close();
  }
}

class ExpiryQueue {
  readonly #events: Resource;
  readonly #context: ServerContext;
  readonly #ttlMs: number;
  #places: Place[] = [];
  /** Those before it are done: cheaper than shifting. */
  #head = 0;
  #stop: (() => void) | undefined;

  constructor(events: Resource, context: ServerContext, ttlMs: number) {
    this.#events = events;
    this.#context = context;
    this.#ttlMs = ttlMs;
    this.#fill();
  }

  /** Until the next one ends; a whole life if there is none: what comes later ends later. */
  waitMs(): number {
    const next = this.#places[this.#head];
    return next === undefined ? this.#ttlMs : next.expiresMs - this.#context.clock.now();
  }

  /** Deletes what has ended. */
  async expire(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const batch = this.#take();
      if (batch.length === 0) return;
      const worker = async () => {
        for (let stored = batch.shift(); stored !== undefined && !signal.aborted; stored = batch.shift())
          await this.#delete(stored);
      };
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, batch.length) }, worker));
    }
  }

  close(): void {
    this.#stop?.();
  }

  /** From what is there, and then from what is written. */
  #fill(): void {
    this.#stop?.();
    const now = this.#context.clock.now();
    const found = [...this.#events.readable()].map((stored) => ({
      suffix: stored.key.slice(this.#events.cache.prefix.length),
      revision: stored.revision,
      expiresMs: Math.min(lastToldMs(stored.object) ?? now, now) + this.#ttlMs,
    }));
    this.#places = found.sort((a, b) => a.expiresMs - b.expiresMs);
    this.#head = 0;
    const { cache } = this.#events;
    this.#stop = cache.watch({}, this.#context.feed.revision, {
      event: ({ type, stored }) => {
        if (type !== "DELETED") this.#add(stored);
      },
      expired: () => queueMicrotask(() => this.#fill()),
    });
  }

  #add({ key, revision }: StoredObject): void {
    const expiresMs = this.#context.clock.now() + this.#ttlMs;
    this.#places.push({ suffix: key.slice(this.#events.cache.prefix.length), revision, expiresMs });
  }

  /** The next of those that have ended and are still what they were. */
  #take(): StoredObject[] {
    const now = this.#context.clock.now();
    const taken: StoredObject[] = [];
    for (; taken.length < BATCH; this.#head++) {
      const place = this.#places[this.#head];
      if (place === undefined || place.expiresMs > now) break;
      const stored = this.#events.cache.get(place.suffix);
      if (stored?.revision === place.revision) taken.push(stored);
    }
    if (this.#head > BATCH && this.#head * 2 > this.#places.length) {
      this.#places = this.#places.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }

  async #delete(stored: StoredObject): Promise<void> {
    try {
      // Refused: somebody else was first. If it was written, it stands in the queue again.
      await erase(this.#context, this.#events, stored.key.slice(this.#events.cache.prefix.length), stored);
    } catch (error) {
      this.#context.log.warn("an expired event could not be deleted; trying again later", { event: stored.key, error });
      this.#add(stored);
    }
  }
}

/** The latest time that an Event tells. */
function lastToldMs(object: KubeObject): number | undefined {
  const { metadata, lastTimestamp, eventTime, series } = object as KubeObject & {
    readonly lastTimestamp?: string | null;
    readonly eventTime?: string | null;
    readonly series?: { readonly lastObservedTime?: string | null };
  };
  const times = [
    ...[metadata.creationTimestamp, lastTimestamp].flatMap((text) => (text ? [toMs(parseTime(text))] : [])),
    ...[eventTime, series?.lastObservedTime].flatMap((text) => (text ? [toMs(parseMicroTime(text))] : [])),
  ];
  return times.length === 0 ? undefined : Math.max(...times);
}
