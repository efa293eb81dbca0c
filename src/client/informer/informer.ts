/**
 * Keeps a cache of one resource's objects by list and watch, and calls handlers with each change.
 *
 *     ┌──► listing ──► watching ──┐ the server ended the watch: continues from the last revision
 *     │       ▲           ▲  └────┘
 *     │       │           │
 *     │       └─ waiting ─┘         a failure is retried after a backoff
 *     └── Expired ◄── watching      the revision is too old: list again
 *
 * 1. The objects come as a streaming list if the server supports it, else page by page; a watch follows from that
 *    revision.
 * 2. Handlers get every change once, for each object in the order of revisions; a new list becomes the changes against
 *    the cache.
 * 3. `synced` resolves when the cache has been complete once. Handlers run before callers that wait for the revision.
 */
import { isStatusError, type KubeObject } from "#api";
import { Backoff, type Clock, isAbort, type Logger, type Random } from "#base";
import type { Selectors } from "../requests/options.ts";
import type { ResourceClient } from "../requests/resource-client.ts";
import type { WatchEvent } from "../requests/watch.ts";
import { type Change, ObjectCache, objectKey, type ReadonlyCache, revisionOf } from "./object-cache.ts";

const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 30_000;

export interface InformerOptions<T extends KubeObject> {
  readonly client: ResourceClient<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly selectors?: Selectors;
  /** Calls handlers with every object again at this interval. Default: never. */
  readonly resyncMs?: number;
  /**
   * The server may batch changes for up to this time, at most a second (over the network only). Default: no batching.
   */
  readonly gatherMs?: number | undefined;
}

export type Handler<T> = (change: Change<T>) => void;

type State =
  | { readonly name: "listing"; readonly by: "stream" | "pages" }
  | { readonly name: "watching" }
  | { readonly name: "waiting"; readonly next: State };

const LISTING: State = { name: "listing", by: "stream" };
const WATCHING: State = { name: "watching" };

export class Informer<T extends KubeObject> {
  readonly #options: InformerOptions<T>;
  readonly #cache = new ObjectCache<T>();
  readonly #handlers = new Set<Handler<T>>();
  readonly #synced = Promise.withResolvers<void>();
  readonly #backoff: Backoff;
  #hasSynced = false;
  /** The streaming list that runs is complete: what follows is a watch. */
  #hasListed = false;

  constructor(options: InformerOptions<T>) {
    const { clock, random } = options;
    this.#options = options;
    this.#backoff = new Backoff({ initialMs: FIRST_RETRY_MS, maxMs: LAST_RETRY_MS, jitter: 0.5 }, random, {
      clock,
      ms: 2 * LAST_RETRY_MS,
    });
  }

  get cache(): ReadonlyCache<T> {
    return this.#cache;
  }

  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /**
   * Calls the handler with all current objects as added, then with every change. Returns a function that removes it.
   */
  onChange(handler: Handler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#cache.list()) this.#call(handler, { type: "added", object });
    return () => void this.#handlers.delete(handler);
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const resync = this.#resync(signal);
    let state: State = LISTING;
    while (!signal.aborted) state = await this.#step(state, signal);
    await resync;
  }

  async #step(state: State, signal: AbortSignal): Promise<State> {
    try {
      switch (state.name) {
        case "listing":
          return await (state.by === "stream" ? this.#stream(signal) : this.#pages(signal));
        case "watching":
          return await this.#watch(signal);
        case "waiting":
          await this.#options.clock.sleep(this.#backoff.next(), signal);
          return state.next;
      }
    } catch (error) {
      if (signal.aborted && isAbort(error, signal)) return state;
      return this.#afterFailure(this.#hasListed ? WATCHING : state, error);
    }
  }

  #afterFailure(state: State, error: unknown): State {
    const { log, client } = this.#options;
    const reason = isStatusError(error) ? error.reason : "";
    if (reason === "Expired" || reason === "Gone") return LISTING;
    if (state.name === "listing" && state.by === "stream" && (reason === "Invalid" || reason === "BadRequest"))
      return { name: "listing", by: "pages" };
    log.warn("a watch failed and is tried again", { resource: client.resource.plural, state: state.name, error });
    return { name: "waiting", next: state };
  }

  /** The list comes as events, and the watch continues after it. */
  async #stream(signal: AbortSignal): Promise<State> {
    const { client, selectors } = this.#options;
    const found = new Map<string, T>();
    this.#hasListed = false;
    for await (const event of client.watch({
      ...selectors,
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      omitManagedFields: true,
      gatherMs: this.#options.gatherMs,
      signal,
    })) {
      if (this.#hasListed) this.#take(event);
      else if (event.type === "DELETED") found.delete(objectKey(event.object));
      else if (event.type !== "BOOKMARK") found.set(objectKey(event.object), event.object);
      else if (event.initialEventsEnd) {
        this.#replace(found.values(), Number(event.resourceVersion));
        this.#hasListed = true;
      }
    }
    return this.#hasListed ? WATCHING : { name: "waiting", next: LISTING };
  }

  async #pages(signal: AbortSignal): Promise<State> {
    this.#hasListed = false;
    const { client, selectors } = this.#options;
    const found: T[] = [];
    let revision = 0;
    let page = await client.list({ ...selectors, limit: 500, signal });
    for (;;) {
      found.push(...page.items);
      revision = Number(page.metadata.resourceVersion);
      const { continue: token = "" } = page.metadata;
      if (token === "") break;
      page = await client.list({ ...selectors, limit: 500, continue: token, signal });
    }
    this.#replace(found, revision);
    return WATCHING;
  }

  async #watch(signal: AbortSignal): Promise<State> {
    const { client, clock, selectors } = this.#options;
    const resourceVersion = String(this.#cache.revision);
    const start = clock.monotonic();
    let hasEvents = false;
    for await (const event of client.watch({
      ...selectors,
      resourceVersion,
      omitManagedFields: true,
      gatherMs: this.#options.gatherMs,
      signal,
    })) {
      this.#take(event);
      hasEvents = true;
    }
    // A server that ends watches at once must not be called in a tight loop.
    return hasEvents || clock.monotonic() - start > FIRST_RETRY_MS ? WATCHING : { name: "waiting", next: WATCHING };
  }

  #take(event: WatchEvent<T>): void {
    if (event.type === "BOOKMARK") {
      this.#cache.advance(Number(event.resourceVersion));
      return;
    }
    const { object } = event;
    this.#notify(event.type === "DELETED" ? this.#cache.delete(objectKey(object), object) : this.#cache.set(object));
    this.#cache.advance(revisionOf(object));
  }

  #replace(objects: Iterable<T>, revision: number): void {
    const gone = new Set(this.#cache.keys());
    for (const object of objects) {
      const key = objectKey(object);
      gone.delete(key);
      // Another object of the same name: the old one was deleted.
      const before = this.#cache.get(key);
      if (before !== undefined && before.metadata.uid !== object.metadata.uid) this.#notify(this.#cache.delete(key));
      this.#notify(this.#cache.set(object));
    }
    for (const key of gone) this.#notify(this.#cache.delete(key));
    this.#cache.advance(revision);
    this.#hasSynced = true;
    this.#synced.resolve();
  }

  #notify(change: Change<T> | undefined): void {
    if (change === undefined) return;
    for (const handler of this.#handlers) this.#call(handler, change);
  }

  #call(handler: Handler<T>, change: Change<T>): void {
    try {
      handler(change);
    } catch (error) {
      this.#options.log.error("a handler failed", { resource: this.#options.client.resource.plural, error });
    }
  }

  async #resync(signal: AbortSignal): Promise<void> {
    const { clock, resyncMs } = this.#options;
    if (resyncMs === undefined) return;
    while (!signal.aborted) {
      try {
        await clock.sleep(resyncMs, signal);
      } catch (error) {
        if (isAbort(error, signal)) return;
        throw error;
      }
      for (const object of this.#cache.list()) this.#notify({ type: "updated", object, old: object });
    }
  }
}
