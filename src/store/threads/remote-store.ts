/**
 * A store that lives on another thread of this process, behind a port: see `host.ts`.
 *
 * 1. What is asked in one turn of the event loop is one message.
 * 2. Watches read the changes that the other thread sends to all; those that are not here any more are asked for.
 * 3. `newest()` needs no message. A write of any thread is in it before it is answered.
 * 4. When the port is closed from the other side, calls under way fail as Unavailable: a write may have been applied.
 */
import { nextTurn } from "#base";
import { ChangeWindow } from "../history/change-window.ts";
import { type ChangeLog, type LogSlice, LogWatches } from "../history/log-watch.ts";
import { checkKey, checkList, checkPrefix, checkRevision, closedError, compactedError } from "../model/arguments.ts";
import { StoreError } from "../model/errors.ts";
import type {
  CallOptions,
  Entry,
  ListOptions,
  Page,
  ReadOptions,
  Revision,
  Store,
  Watch,
  WatchOptions,
  WriteOutcome,
} from "../model/store.ts";
import type { StorePort } from "./hosted-port.ts";
import { NewestRevision } from "./newest-revision.ts";
import { packWrites, unpackChanges, unpackEntries, type Write } from "./packed.ts";
import type { Answers, Call, PlainError, Questions, Reply, Welcome } from "./protocol.ts";

/** A server reads changes as they come: only watches that begin a little in the past need more. */
const WINDOW_BYTES = 4 * 1024 * 1024;

interface Waiting {
  readonly isWrite: boolean;
  done(revision: Revision): void;
  reply(reply: Reply): void;
  fail(error: unknown): void;
}

type Ask = Call extends infer C ? (C extends { readonly id: number } ? Omit<C, "id"> : never) : never;

/** Resolves when the other thread serves its store. */
export function openRemoteStore(port: StorePort): Promise<RemoteStore> {
  return new Promise((resolve, reject) => {
    let store: RemoteStore | undefined;
    port.on("message", (message: Welcome | Answers) => {
      if (store !== undefined) return store.answered(message as Answers);
      store = new RemoteStore(port, message as Welcome);
      resolve(store);
    });
    port.on("close", () => {
      const gone = new StoreError("Unavailable", "The thread of the store has gone.");
      if (store === undefined) reject(gone);
      else store.cut();
    });
  });
}

export class RemoteStore implements Store, ChangeLog {
  readonly sizeBytes?: () => Promise<number>;
  readonly #port: StorePort;
  /** Other processes write to the store, too. */
  readonly isShared: boolean;
  readonly #newest: NewestRevision;
  #window: ChangeWindow;
  readonly #watches = new LogWatches(this);
  readonly #waiting = new Map<number, Waiting>();
  #ids = 0;
  #writes: Write[] = [];
  #calls: Call[] = [];
  #progress = false;
  #read = 0;
  #asking = false;
  #compacted: Revision = 0;
  #closing: PromiseWithResolvers<void> | undefined;
  #closed = false;
  /** Progress that watches wait for, by the revision that has to be here. */
  #reports: { readonly revision: Revision; readonly report: () => void }[] = [];

  constructor(port: StorePort, { revision, newest, isShared, hasSize }: Welcome) {
    this.#port = port;
    this.isShared = isShared;
    this.#newest = new NewestRevision(newest);
    this.#window = new ChangeWindow(revision, WINDOW_BYTES);
    if (hasSize) this.sizeBytes = () => this.#number({ type: "sizeBytes" });
  }

  /** No message: see 3. */
  newest(): Revision {
    return this.#newest.get();
  }

  async get(key: string, options?: ReadOptions): Promise<Entry | undefined> {
    this.#checkOpen();
    checkKey(key);
    const reply = await this.#call({ type: "get", key, options });
    return "entry" in reply ? unpackEntries(reply.entry)[0] : undefined;
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Page> {
    this.#checkOpen();
    checkList(prefix, options);
    const reply = await this.#call({ type: "list", prefix, options });
    if (!("page" in reply)) throw unexpected();
    const { page, revision, more } = reply;
    return { entries: page.flatMap(unpackEntries), revision, more };
  }

  async count(prefix: string, options?: ReadOptions): Promise<number> {
    this.#checkOpen();
    checkPrefix(prefix);
    return this.#number({ type: "count", prefix, options });
  }

  async create(key: string, value: Buffer, options?: CallOptions): Promise<WriteOutcome> {
    return this.#write(key, value, undefined, options);
  }

  async update(key: string, value: Buffer, expected: Revision, options?: CallOptions): Promise<WriteOutcome> {
    checkRevision(expected);
    return this.#write(key, value, expected, options);
  }

  async delete(key: string, expected: Revision, options?: CallOptions): Promise<WriteOutcome> {
    checkRevision(expected);
    return this.#write(key, undefined, expected, options);
  }

  watch(prefix: string, options: WatchOptions): Watch {
    this.#checkOpen();
    const watch = this.#watches.watch(prefix, options);
    return {
      requestProgress: () => this.#whenHere(this.#newest.get(), () => watch.requestProgress()),
      [Symbol.asyncIterator]: () => watch[Symbol.asyncIterator](),
    };
  }

  async revision(options?: ReadOptions): Promise<Revision> {
    this.#checkOpen();
    return this.isShared ? this.#number({ type: "revision", options }) : this.#newest.get();
  }

  async compact(revision: Revision, options?: CallOptions): Promise<void> {
    this.#checkOpen();
    checkRevision(revision);
    await this.#number({ type: "compact", revision, options });
    this.#compacted = Math.max(this.#compacted, revision);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#watches.close();
    if (this.#waiting.size > 0) {
      this.#closing = Promise.withResolvers();
      await this.#closing.promise;
    }
    this.#port.close();
  }

  head(): Revision {
    return this.#window.head;
  }

  read(prefix: string, after: Revision, limit: number): LogSlice | Promise<LogSlice> {
    if (after < this.#compacted) throw compactedError(after, this.#compacted);
    return this.#window.read(prefix, after, limit) ?? this.#changes(prefix, after);
  }

  answered({ changes = [], through, skips, done = [], replies = [] }: Answers): void {
    for (let i = 0; i < done.length; i += 2) this.#take(done[i] ?? 0)?.done(done[i + 1] ?? 0);
    for (const reply of replies) this.#take(reply.id)?.reply(reply);
    if (changes.length > 0) {
      this.#read++;
      this.#ask();
    }
    if (through === undefined) return;
    if (skips === true) this.#window = new ChangeWindow(through, WINDOW_BYTES);
    const unpacked =
      changes.length === 1 && changes[0] !== undefined ? unpackChanges(changes[0]) : changes.flatMap(unpackChanges);
    for (const { key, revision } of this.#window.append({ changes: unpacked, revision: through }))
      this.#watches.changed(key, revision);
    if (skips === true) this.#watches.changedAnywhere(through);
    this.#report();
  }

  /** The port was closed from the other side. */
  cut(): void {
    this.#watches.close();
    this.#closed = true;
    const why = "The thread of the store has gone.";
    for (const [id, { isWrite, fail }] of this.#waiting) {
      this.#waiting.delete(id);
      fail(new StoreError("Unavailable", why, { maybeApplied: isWrite }));
    }
    this.#closing?.resolve();
  }

  #write(
    key: string,
    value: Buffer | undefined,
    expected: Revision | undefined,
    { timeoutMs }: CallOptions = {},
  ): Promise<WriteOutcome> {
    this.#checkOpen();
    checkKey(key);
    const id = ++this.#ids;
    this.#writes.push({ id, key, value, expected, timeoutMs });
    this.#ask();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {
        isWrite: true,
        done: (revision) => resolve({ ok: true, revision }),
        reply: (reply) => {
          if ("error" in reply) reject(errorOf(reply.error));
          else if ("entry" in reply) resolve({ ok: false, current: unpackEntries(reply.entry)[0] });
          else reject(unexpected());
        },
        fail: reject,
      });
    });
  }

  #call(ask: Ask): Promise<Exclude<Reply, { readonly error: PlainError }>> {
    const id = ++this.#ids;
    this.#calls.push({ id, ...ask } as Call);
    this.#ask();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {
        isWrite: false,
        done: () => reject(unexpected()),
        reply: (reply) => ("error" in reply ? reject(errorOf(reply.error)) : resolve(reply)),
        fail: reject,
      });
    });
  }

  async #number(ask: Ask): Promise<number> {
    const reply = await this.#call(ask);
    if (!("number" in reply)) throw unexpected();
    return reply.number;
  }

  async #changes(prefix: string, after: Revision): Promise<LogSlice> {
    const reply = await this.#call({ type: "changes", prefix, after });
    if (!("slice" in reply)) throw unexpected();
    return { changes: reply.slice.flatMap(unpackChanges), through: reply.through };
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#closing?.resolve();
    return waiting;
  }

  #ask(): void {
    if (this.#asking) return;
    this.#asking = true;
    void nextTurn().then(() => this.#flush());
  }

  #flush(): void {
    this.#asking = false;
    const [writes, calls] = [this.#writes, this.#calls];
    const questions: Questions = {
      ...(writes.length > 0 && { writes: packWrites(writes) }),
      ...(calls.length > 0 && { calls }),
      ...(this.#progress && { progress: true }),
      ...(this.#read > 0 && { read: this.#read }),
    };
    this.#writes = [];
    this.#calls = [];
    this.#progress = false;
    this.#read = 0;
    this.#port.postMessage(questions);
  }

  /** Everything up to `revision` comes by itself, unless nothing changes any more. */
  #whenHere(revision: Revision, report: () => void): void {
    if (!this.isShared && this.#window.head >= revision) {
      report();
      return;
    }
    this.#reports.push({ revision, report });
    if (!this.isShared) return;
    this.#progress = true;
    this.#ask();
  }

  #report(): void {
    if (this.#reports.length === 0) return;
    const { head } = this.#window;
    const due = this.#reports.filter(({ revision }) => revision <= head);
    this.#reports = this.#reports.filter(({ revision }) => revision > head);
    for (const { report } of due) report();
  }

  #checkOpen(): void {
    if (this.#closed) throw closedError();
  }
}

function errorOf({ message, code, maybeApplied, compactRevision }: PlainError): Error {
  if (code === undefined) return new Error(message);
  const details = {
    ...(maybeApplied !== undefined && { maybeApplied }),
    ...(compactRevision !== undefined && { compactRevision }),
  };
  return new StoreError(code, message, details);
}

function unexpected(): Error {
  return new Error("The thread of the store answered something else.");
}
