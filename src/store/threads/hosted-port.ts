/**
 * One thread that uses a store, as seen from the store's thread: what it asks, and what it is sent.
 *
 * 1. What is sent in one turn of the event loop is one message.
 * 2. A thread that does not keep up gets no more changes until it has read what was sent: it is told that some are
 *    left out, and asks for those that it needs.
 */
import type { MessagePort } from "node:worker_threads";
import { nextTurn } from "#base";
import type { Entry } from "../model/store.ts";
import type { StoreHost } from "./host.ts";
import { type Packed, packEntries, packLog, packPage, unpackWrites, type Write } from "./packed.ts";
import { type Answers, type Call, plainError, type Questions, type Reply } from "./protocol.ts";

export type StorePort = Pick<MessagePort, "postMessage" | "on" | "close" | "unref">;

export interface HostedPortOptions {
  readonly store: StoreHost;
  readonly withPrevious: boolean;
  /** Bytes of changes that the thread may have before it. */
  readonly maxUnreadBytes: number;
  askProgress(): void;
  closed(): void;
}

export class HostedPort {
  readonly #port: StorePort;
  readonly #options: HostedPortOptions;
  #changes: Packed[] = [];
  #through: number | undefined;
  #skips = false;
  #done: number[] = [];
  #replies: Reply[] = [];
  #sending = false;
  #closed = false;
  /** Messages with changes that have not been read, as far as is known: their bytes, oldest first. */
  readonly #unread: number[] = [];
  #unreadBytes = 0;
  #overrun = false;

  constructor(port: StorePort, options: HostedPortOptions) {
    this.#port = port;
    this.#options = options;
    port.on("message", (questions: Questions) => this.#asked(questions));
    port.on("close", () => {
      this.#closed = true;
      options.closed();
    });
    // Threads end before their store: a port alone does not keep the process.
    port.unref();
  }

  deliver(changes: readonly Packed[], through: number): void {
    this.#through = through;
    if (changes.length > 0 && this.#unreadBytes > this.#options.maxUnreadBytes) this.#overrun = true;
    if (this.#overrun) return;
    for (const block of changes) {
      this.#changes.push(block);
      this.#unreadBytes += block.byteLength;
    }
    this.#send();
  }

  /** Everything up to `through` is left out. */
  skip(through: number): void {
    this.#through = through;
    this.#skips = true;
    for (const { byteLength } of this.#changes.splice(0)) this.#unreadBytes -= byteLength;
    this.#send();
  }

  close(): void {
    this.#closed = true;
    this.#port.close();
  }

  #asked({ writes, calls = [], progress, read = 0 }: Questions): void {
    for (let i = 0; i < read; i++) this.#unreadBytes -= this.#unread.shift() ?? 0;
    if (this.#overrun && this.#unreadBytes === 0) {
      this.#overrun = false;
      if (this.#through !== undefined) this.skip(this.#through);
    }
    if (writes !== undefined) for (const write of unpackWrites(writes)) void this.#write(write);
    for (const call of calls) void this.#call(call);
    if (progress === true) this.#options.askProgress();
  }

  async #write({ id, key, value, expected, timeoutMs }: Write): Promise<void> {
    const { store } = this.#options;
    const options = timeoutMs === undefined ? undefined : { timeoutMs };
    try {
      const outcome = await (value === undefined
        ? store.delete(key, expected ?? 0, options)
        : expected === undefined
          ? store.create(key, value, options)
          : store.update(key, value, expected, options));
      if (outcome.ok) this.#done.push(id, outcome.revision);
      else this.#replies.push({ id, entry: packEntries(listed(outcome.current)) });
    } catch (error) {
      this.#replies.push({ id, error: plainError(error) });
    }
    this.#send();
  }

  async #call(call: Call): Promise<void> {
    const { id } = call;
    try {
      this.#replies.push({ id, ...(await this.#answer(call)) } as Reply);
    } catch (error) {
      this.#replies.push({ id, error: plainError(error) });
    }
    this.#send();
  }

  async #answer(call: Call) {
    const { store, withPrevious } = this.#options;
    switch (call.type) {
      case "get":
        return { entry: packEntries(listed(await store.get(call.key, call.options))) };
      case "list": {
        const { entries, revision, more } = await store.list(call.prefix, call.options);
        return { page: packPage(entries), revision, more };
      }
      case "count":
        return { number: await store.count(call.prefix, call.options) };
      case "revision":
        return { number: await store.revision(call.options) };
      case "compact":
        await store.compact(call.revision, call.options);
        return { number: 0 };
      case "sizeBytes":
        return { number: (await store.sizeBytes?.()) ?? 0 };
      case "changes": {
        const { changes, through } = await store.changesAfter(call.prefix, call.after);
        return { slice: packLog(changes, withPrevious), through };
      }
    }
  }

  #send(): void {
    if (this.#sending || this.#closed) return;
    this.#sending = true;
    void nextTurn().then(() => this.#flush());
  }

  #flush(): void {
    this.#sending = false;
    if (this.#closed) return;
    const [changes, done, replies] = [this.#changes, this.#done, this.#replies];
    const answers: Answers = {
      ...(changes.length > 0 && { changes }),
      ...(!this.#overrun && this.#through !== undefined && { through: this.#through }),
      ...(this.#skips && { skips: true }),
      ...(done.length > 0 && { done }),
      ...(replies.length > 0 && { replies }),
    };
    this.#changes = [];
    if (!this.#overrun) this.#through = undefined;
    this.#skips = false;
    this.#done = [];
    this.#replies = [];
    if (changes.length > 0) this.#unread.push(changes.reduce((sum, { byteLength }) => sum + byteLength, 0));
    this.#port.postMessage(answers);
  }
}

function listed(entry: Entry | undefined): readonly Entry[] {
  return entry === undefined ? [] : [entry];
}
