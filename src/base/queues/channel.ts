/**
 * A bounded queue between a producer that must not wait and one consumer that may be slow.
 *
 * 1. What was pushed is delivered in order, each once, before the end or the failure is.
 * 2. At most `capacity` items wait; `push` refuses more and says so. What to do then is the producer's choice: drop the
 *    consumer, or wait for `room`.
 * 3. A consumer that leaves its loop closes the channel and drops what waits; the producer learns it from `push`,
 *    `room` and `onLeave`.
 */

export interface ChannelOptions {
  readonly capacity: number;
  /** The consumer has left before the end. */
  readonly onLeave?: () => void;
}

type Ending = { readonly error?: unknown; readonly failed: boolean };
type Waiter<T> = PromiseWithResolvers<IteratorResult<T, undefined>>;

export class Channel<T> implements AsyncIterable<T, undefined> {
  readonly #capacity: number;
  readonly #onLeave: (() => void) | undefined;
  /** Delivered items stay before `head` until enough of them have gathered: taking one is O(1) on average. */
  #items: T[] = [];
  #head = 0;
  #ending: Ending | undefined;
  #consumed = false;
  readonly #consumers: Waiter<T>[] = [];
  #room: PromiseWithResolvers<boolean> | undefined;

  constructor({ capacity, onLeave }: ChannelOptions) {
    if (!(capacity >= 1)) throw new RangeError(`a channel holds at least one item, not ${capacity}`);
    this.#capacity = capacity;
    this.#onLeave = onLeave;
  }

  /** How many items wait. */
  get length(): number {
    return this.#items.length - this.#head;
  }

  /** Nothing more can be pushed. */
  get closed(): boolean {
    return this.#ending !== undefined;
  }

  /** False, and nothing happens, when the channel is full or closed. */
  push(item: T): boolean {
    if (this.#ending !== undefined) return false;
    const consumer = this.#consumers.shift();
    if (consumer !== undefined) {
      consumer.resolve({ done: false, value: item });
      return true;
    }
    if (this.length >= this.#capacity) return false;
    this.#items.push(item);
    return true;
  }

  /** Resolves to true once an item can be pushed, to false when the channel is closed. */
  room(): Promise<boolean> {
    if (this.#ending !== undefined) return Promise.resolve(false);
    if (this.length < this.#capacity) return Promise.resolve(true);
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  /** The consumer's loop ends after the items that wait. */
  close(): void {
    this.#end({ failed: false });
  }

  /** The consumer's loop throws after the items that wait. */
  fail(error: unknown): void {
    this.#end({ failed: true, error });
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    if (this.#consumed) throw new Error("a channel has one consumer");
    this.#consumed = true;
    return {
      next: () => this.#next(),
      return: async () => {
        this.#leave();
        return { done: true, value: undefined };
      },
    };
  }

  #next(): Promise<IteratorResult<T, undefined>> {
    if (this.length > 0) return Promise.resolve({ done: false, value: this.#shift() });
    const waiter: Waiter<T> = Promise.withResolvers();
    if (this.#ending === undefined) this.#consumers.push(waiter);
    else this.#deliverEnd(waiter);
    return waiter.promise;
  }

  #shift(): T {
    const item = this.#items[this.#head++] as T;
    if (this.#head === this.#items.length || this.#head > this.#capacity) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    this.#settleRoom(true);
    return item;
  }

  #end(ending: Ending): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#settleRoom(false);
    for (const waiter of this.#consumers.splice(0)) this.#deliverEnd(waiter);
  }

  /** A failure is thrown once; after it the loop is at its end. */
  #deliverEnd(waiter: Waiter<T>): void {
    const ending = this.#ending;
    this.#ending = { failed: false };
    if (ending?.failed) waiter.reject(ending.error);
    else waiter.resolve({ done: true, value: undefined });
  }

  #leave(): void {
    const early = this.#ending === undefined;
    this.#items = [];
    this.#head = 0;
    this.#end({ failed: false });
    if (early) this.#onLeave?.();
  }

  #settleRoom(open: boolean): void {
    this.#room?.resolve(open);
    this.#room = undefined;
  }
}
