/**
 * A store whose watches can be held up, or broken, while everything else goes on: the moments between a write and its
 * event, made as long as a test wants them.
 */
import { childController } from "#base";
import type {
  CallOptions,
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
} from "#store";

export class HeldStore implements Store {
  readonly #store: Store;
  #gate = Promise.withResolvers<void>();
  #failure = Promise.withResolvers<never>();

  constructor(store: Store) {
    this.#store = store;
    this.#gate.resolve();
    this.#failure.promise.catch(() => {});
  }

  /** No watch delivers anything from now on. */
  hold(): void {
    this.#gate = Promise.withResolvers();
  }

  release(): void {
    this.#gate.resolve();
  }

  /** Watches of this moment end with the error. */
  fail(error: unknown): void {
    this.#failure.reject(error);
    this.#failure = Promise.withResolvers();
    this.#failure.promise.catch(() => {});
  }

  watch(prefix: string, { after, signal }: WatchOptions): Watch {
    const child = childController(signal);
    const inner = this.#store.watch(prefix, { after, signal: child.signal });
    return {
      requestProgress: () => inner.requestProgress(),
      [Symbol.asyncIterator]: () => this.#iterate(inner, child),
    };
  }

  async *#iterate(
    inner: Watch,
    child: ReturnType<typeof childController>,
  ): AsyncGenerator<WatchBatch, void, undefined> {
    const failure = this.#failure.promise;
    const ended = new Promise<void>((resolve) =>
      child.signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    const iterator = inner[Symbol.asyncIterator]();
    try {
      for (;;) {
        const step = await Promise.race([iterator.next(), failure]);
        if (step.done === true) return;
        await Promise.race([this.#gate.promise, failure, ended]);
        if (child.signal.aborted) return;
        yield step.value;
      }
    } finally {
      child.abort();
    }
  }

  get(key: string, options?: ReadOptions): Promise<Entry | undefined> {
    return this.#store.get(key, options);
  }

  list(prefix: string, options?: ListOptions): Promise<Page> {
    return this.#store.list(prefix, options);
  }

  count(prefix: string, options?: ReadOptions): Promise<number> {
    return this.#store.count(prefix, options);
  }

  create(key: string, value: Buffer, options?: CallOptions): Promise<WriteOutcome> {
    return this.#store.create(key, value, options);
  }

  update(key: string, value: Buffer, expected: Revision, options?: CallOptions): Promise<WriteOutcome> {
    return this.#store.update(key, value, expected, options);
  }

  delete(key: string, expected: Revision, options?: CallOptions): Promise<WriteOutcome> {
    return this.#store.delete(key, expected, options);
  }

  revision(options?: ReadOptions): Promise<Revision> {
    return this.#store.revision(options);
  }

  compact(revision: Revision, options?: CallOptions): Promise<void> {
    return this.#store.compact(revision, options);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
