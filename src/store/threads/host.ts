/**
 * A store as threads use it together: it stays on its thread, and others reach it through ports.
 *
 *     this thread ──► StoreHost ──► the store ══►
 *                         ▲ │ --► changes, to all ports
 *     RemoteStore ── port ┘ ▼
 *
 * 1. `newest` is raised before a write is answered and before a change is shown, to whomever.
 * 2. Changes are packed once for all ports, and sent with the answers of the same turn.
 * 3. A port whose thread has gone is forgotten. Its writes under way are finished: they have been asked for.
 */
import { nextTurn } from "#base";
import { isStoreError } from "../model/errors.ts";
import type {
  CallOptions,
  Change,
  Entry,
  ListOptions,
  Page,
  ReadOptions,
  Revision,
  Store,
  Watch,
  WatchBatch,
  WatchOptions,
  WriteOutcome,
} from "../model/store.ts";
import { HostedPort, type StorePort } from "./hosted-port.ts";
import { NewestRevision } from "./newest-revision.ts";
import { type Packed, packLog } from "./packed.ts";
import type { Welcome } from "./protocol.ts";

const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

export interface HostOptions {
  /** Others write to the store, too, so that only asking it tells its newest revision. */
  readonly isShared: boolean;
  /** Whether changes reach other threads with what was there before, which doubles their size. Default: no. */
  readonly withPrevious?: boolean | undefined;
  /** Bytes of changes that a thread may have before it. Default: 64 MiB. */
  readonly maxUnreadBytes?: number | undefined;
  /** Called when the changes for other threads have ended, and begin again. */
  readonly failed: (error: unknown) => void;
}

export class StoreHost implements Store {
  readonly newest = new NewestRevision();
  readonly sizeBytes?: () => Promise<number>;
  readonly #store: Store;
  readonly #options: HostOptions;
  readonly #ports = new Set<HostedPort>();
  readonly #end = new AbortController();
  /** Everything up to here has been sent to the ports. */
  #position: Revision = 0;
  #following: Promise<void> | undefined;
  #started: Promise<void> | undefined;
  #watch: Watch | undefined;

  constructor(store: Store, options: HostOptions) {
    this.#store = store;
    this.#options = options;
    if (store.sizeBytes !== undefined) this.sizeBytes = () => store.sizeBytes?.() ?? Promise.resolve(0);
  }

  /** Serves the thread at the other end of the port, until that closes it. */
  async attach(port: StorePort): Promise<void> {
    this.#started ??= this.#start();
    await this.#started;
    const hosted: HostedPort = new HostedPort(port, {
      store: this,
      withPrevious: this.#options.withPrevious === true,
      maxUnreadBytes: this.#options.maxUnreadBytes ?? MAX_UNREAD_BYTES,
      askProgress: () => this.#watch?.requestProgress(),
      closed: () => this.#ports.delete(hosted),
    });
    const { memory } = this.newest;
    const { isShared } = this.#options;
    const hasSize = this.sizeBytes !== undefined;
    port.postMessage({ revision: this.#position, newest: memory, isShared, hasSize } satisfies Welcome);
    this.#ports.add(hosted);
  }

  async get(key: string, options?: ReadOptions): Promise<Entry | undefined> {
    const entry = await this.#store.get(key, options);
    if (entry !== undefined) this.newest.raise(entry.revision);
    return entry;
  }

  async list(prefix: string, options?: ListOptions): Promise<Page> {
    const page = await this.#store.list(prefix, options);
    this.newest.raise(page.revision);
    return page;
  }

  count(prefix: string, options?: ReadOptions): Promise<number> {
    return this.#store.count(prefix, options);
  }

  create(key: string, value: Buffer, options?: CallOptions): Promise<WriteOutcome> {
    return this.#seen(this.#store.create(key, value, options));
  }

  update(key: string, value: Buffer, expected: Revision, options?: CallOptions): Promise<WriteOutcome> {
    return this.#seen(this.#store.update(key, value, expected, options));
  }

  delete(key: string, expected: Revision, options?: CallOptions): Promise<WriteOutcome> {
    return this.#seen(this.#store.delete(key, expected, options));
  }

  watch(prefix: string, options: WatchOptions): Watch {
    const watch = this.#store.watch(prefix, options);
    return {
      requestProgress: () => watch.requestProgress(),
      [Symbol.asyncIterator]: () => this.#raised(watch),
    };
  }

  async revision(options?: ReadOptions): Promise<Revision> {
    const revision = await this.#store.revision(options);
    this.newest.raise(revision);
    return revision;
  }

  compact(revision: Revision, options?: CallOptions): Promise<void> {
    return this.#store.compact(revision, options);
  }

  async close(): Promise<void> {
    this.#end.abort();
    for (const port of this.#ports) port.close();
    await this.#following;
    await this.#store.close();
  }

  /** Up to `limit` changes, for a thread that has not got them. */
  async changesAfter(
    prefix: string,
    after: Revision,
  ): Promise<{ readonly changes: readonly Change[]; readonly through: Revision }> {
    const ending = new AbortController();
    try {
      const watch = this.watch(prefix, { after, signal: ending.signal });
      watch.requestProgress();
      for await (const { changes, revision } of watch) return { changes, through: revision };
      return { changes: [], through: after };
    } finally {
      ending.abort();
    }
  }

  async #seen(writing: Promise<WriteOutcome>): Promise<WriteOutcome> {
    const outcome = await writing;
    const revision = outcome.ok ? outcome.revision : outcome.current?.revision;
    if (revision !== undefined) this.newest.raise(revision);
    return outcome;
  }

  async *#raised(watch: Watch): AsyncGenerator<WatchBatch, void, undefined> {
    for await (const batch of watch) {
      this.newest.raise(batch.revision);
      yield batch;
    }
  }

  async #start(): Promise<void> {
    this.#position = await this.revision();
    this.#following = this.#follow();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      try {
        this.#watch = this.watch("", { after: this.#position, signal });
        for await (const batch of this.#watch) this.#deliver(batch);
      } catch (error) {
        if (signal.aborted || isStoreError(error, "Closed")) return;
        this.#options.failed(error);
        await nextTurn();
        await this.#skip();
      }
    }
  }

  #deliver({ changes, revision }: WatchBatch): void {
    this.#position = revision;
    let packed: readonly Packed[] | undefined;
    for (const port of this.#ports) {
      packed ??= packLog(changes, this.#options.withPrevious === true);
      port.deliver(packed, revision);
    }
  }

  /** Changes are gone: threads read what they need of them, or learn that it is gone. */
  async #skip(): Promise<void> {
    try {
      this.#position = await this.revision();
      for (const port of this.#ports) port.skip(this.#position);
    } catch (error) {
      if (!this.#end.signal.aborted) this.#options.failed(error);
    }
  }
}
