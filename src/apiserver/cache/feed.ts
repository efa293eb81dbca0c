/**
 * The API server's one subscription to its store: a list of everything at the start, then a watch, handed to the cache
 * of each resource.
 *
 *     store --► feed --► cache of each resource --► watchers
 *
 * 1. Changes reach the caches in the order of revisions, each once; `revision` is the last that has reached all of
 *    them.
 * 2. When the store ends the watch, everything is listed again: the caches, and their watchers, start again from that
 *    list.
 * 3. A write waits with `reached(r)` until reads see it; a read waits with it until the caches are as new as the store.
 * 4. A subscriber that joins late gets the same as one from the start: one state, then every change after it.
 */
import type { Clock, Logger } from "#base";
import { type Change, type Entry, isStoreError, type Revision, type Store } from "#store";
import { Joining } from "./joining.ts";

const PAGE_ENTRIES = 2_000;
const RETRY_MS = 200;

/** What a resource's cache takes from the feed. */
export interface Subscriber {
  /** The prefix of its keys; it ends with a slash. */
  readonly prefix: string;
  /** All entries at a revision. After the first call: changes before it may have been missed. */
  replace(entries: readonly Entry[], revision: Revision): void;
  change(change: Change): void;
  /** Takes the state of a subscriber of the same prefix in another feed. False: it has to be replaced by entries. */
  adopt?(other: Subscriber, revision: Revision): boolean;
}

interface Waiter {
  readonly revision: Revision;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class StoreFeed {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #subscribers = new Map<string, Subscriber>();
  #revision: Revision = 0;
  #waiters: Waiter[] = [];
  #requestProgress: (() => void) | undefined;
  #ended: unknown;
  /** Called with each new revision. */
  advanced?: (revision: Revision) => void;

  constructor({ store, prefix, clock, log }: { store: Store; prefix: string; clock: Clock; log: Logger }) {
    this.#store = store;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#log = log;
  }

  /** A stored object cannot be decoded: requests for it fail, and nothing else does. */
  readonly reportUnreadable = (key: string, error: unknown): void =>
    this.#log.error("a stored object cannot be read; the server goes on without it", { key, error });

  /** All changes up to this revision have reached the caches. */
  get revision(): Revision {
    return this.#revision;
  }

  /** To be called before the feed loads; later, see `join`. */
  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.set(subscriber.prefix, subscriber);
    return () => this.#leave(subscriber);
  }

  /**
   * Subscribes while the feed runs, for a prefix without a subscriber: it gets the entries of the store, then every
   * change after them. Throws what the store throws.
   */
  async join(subscriber: Subscriber): Promise<() => void> {
    const { prefix } = subscriber;
    const joining = new Joining(prefix);
    this.#subscribers.set(prefix, joining);
    try {
      const { entries, revision } = await this.#entries(prefix);
      await this.reached(revision);
      joining.handOver(subscriber, entries, revision);
      this.#subscribers.set(prefix, subscriber);
    } catch (error) {
      this.#leave(joining);
      throw error;
    }
    return () => this.#leave(subscriber);
  }

  /** Resolves when the caches show this revision. Rejects with the reason of the signal if that aborts first. */
  reached(revision: Revision, signal?: AbortSignal): Promise<void> {
    if (this.#revision >= revision) return Promise.resolve();
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#requestProgress?.();
    return new Promise((resolve, reject) => {
      const waiter = { revision, resolve, reject };
      this.#waiters.push(waiter);
      if (signal === undefined) return;
      const giveUp = () => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(signal.reason);
      };
      if (signal.aborted) giveUp();
      else signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  /**
   * The first list. It shows the state of up to `history` changes ago, if the store still has it, so that watchers from
   * before a restart find what they missed. Returns the revision that `run` has to reach before the caches are up to
   * date. Throws what the store throws.
   */
  async load(history = 0): Promise<Revision> {
    const head = await this.#store.revision();
    // Revision 1 is the oldest that every store accepts.
    await this.#list(Math.min(head, Math.max(1, head - history))).catch(async (error: unknown) => {
      if (!isStoreError(error, "Compacted")) throw error;
      await this.#list(error.compactRevision ?? head).catch(() => this.#list());
    });
    return head;
  }

  /**
   * In place of `load`, if the store is a fork of another feed's store: subscribers share what those of the other feed
   * have. Without effect, and false, if the other feed is at another revision than this store.
   */
  async adopt(other: StoreFeed): Promise<boolean> {
    const head = await this.#store.revision();
    if (other.#revision !== head) return false;
    const rest: Subscriber[] = [];
    for (const [prefix, subscriber] of this.#subscribers) {
      const theirs = other.#subscribers.get(prefix);
      if (theirs === undefined || subscriber.adopt?.(theirs, head) !== true) rest.push(subscriber);
    }
    for (const subscriber of rest) {
      const { entries } = await this.#entries(subscriber.prefix, head);
      subscriber.replace(entries, head);
    }
    this.#advance(head);
    return true;
  }

  /**
   * The state of all subscribers that can be adopted, as it is now: a feed that never runs, for `adopt`. `copyOf` gives
   * an empty subscriber of the same prefix; undefined: that one is left out.
   */
  frozen(copyOf: (subscriber: Subscriber) => Subscriber | undefined): StoreFeed {
    const [store, prefix, clock, log] = [this.#store, this.#prefix, this.#clock, this.#log];
    const still = new StoreFeed({ store, prefix, clock, log });
    for (const [name, subscriber] of this.#subscribers) {
      const copy = copyOf(subscriber);
      if (copy?.adopt?.(subscriber, this.#revision) === true) still.#subscribers.set(name, copy);
    }
    still.#revision = this.#revision;
    return still;
  }

  /** Runs until its signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        try {
          await this.#follow(signal);
        } catch (error) {
          if (signal.aborted || isStoreError(error, "Closed")) break;
          this.#log.warn("the store's watch ended; listing again", { error });
          await this.#clock.sleep(RETRY_MS, signal).catch(() => {});
          if (signal.aborted) break;
          await this.#listAgain(signal);
        }
      }
    } finally {
      this.#ended = signal.reason ?? new Error("the server is stopping");
      for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#ended);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const watch = this.#store.watch(this.#prefix, { after: this.#revision, signal });
    this.#requestProgress = () => watch.requestProgress();
    if (this.#waiters.length > 0) watch.requestProgress();
    for await (const { changes, revision } of watch) {
      for (const change of changes) this.#subscriberOf(change.key)?.change(change);
      this.#advance(revision);
    }
  }

  async #listAgain(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#list();
        return;
      } catch (error) {
        this.#log.warn("the store cannot be listed; trying again", { error });
        await this.#clock.sleep(RETRY_MS * 5, signal).catch(() => {});
      }
    }
  }

  /** At a revision; the newest if none is given. */
  async #list(at?: Revision): Promise<void> {
    const { entries, revision } = await this.#entries(this.#prefix, at);
    const found = new Map<string, Entry[]>([...this.#subscribers.keys()].map((prefix) => [prefix, []]));
    for (const entry of entries) {
      const subscriber = this.#subscriberOf(entry.key);
      if (subscriber !== undefined) found.get(subscriber.prefix)?.push(entry);
    }
    // Without waiting in between: nobody sees the new state under the old revision.
    for (const [prefix, own] of found) this.#subscribers.get(prefix)?.replace(own, revision);
    this.#advance(revision);
  }

  async #entries(
    prefix: string,
    at?: Revision,
  ): Promise<{ readonly entries: readonly Entry[]; readonly revision: Revision }> {
    let page = await this.#store.list(prefix, { limit: PAGE_ENTRIES, revision: at });
    const { revision } = page;
    const entries = [...page.entries];
    for (let last = entries.at(-1); last !== undefined && page.more; last = entries.at(-1)) {
      page = await this.#store.list(prefix, { limit: PAGE_ENTRIES, revision, after: last.key });
      for (const entry of page.entries) entries.push(entry);
    }
    return { entries, revision };
  }

  #leave(subscriber: Subscriber): void {
    if (this.#subscribers.get(subscriber.prefix) === subscriber) this.#subscribers.delete(subscriber.prefix);
  }

  /** Keys are <prefix><resource>/… or <prefix><group>/<resource>/…: tried from the shorter one. */
  #subscriberOf(key: string): Subscriber | undefined {
    let end = key.indexOf("/", this.#prefix.length);
    for (let tries = 0; end !== -1 && tries < 2; tries++) {
      const subscriber = this.#subscribers.get(key.slice(0, end + 1));
      if (subscriber !== undefined) return subscriber;
      end = key.indexOf("/", end + 1);
    }
    return undefined;
  }

  #advance(revision: Revision): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    this.advanced?.(revision);
    if (this.#waiters.length === 0) return;
    const waiting: Waiter[] = [];
    for (const waiter of this.#waiters) {
      if (waiter.revision <= revision) waiter.resolve();
      else waiting.push(waiter);
    }
    this.#waiters = waiting;
  }
}
