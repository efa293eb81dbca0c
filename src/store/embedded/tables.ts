/**
 * The LMDB environment and its three tables, read at one fixed point between two commits.
 *
 *     log      revision ──► what the write did; values live only here
 *     current  key ──► { createRevision, revision } of the keys that exist now
 *     meta     state ──► head, compacted revision, format, store id
 *
 * 1. All reads see the commit that `commit` reported last, never one that is still to be reported: the transaction for
 *    reading is renewed at that moment and at no other.
 * 2. A commit is all or nothing, and on disk when its promise resolves (overlappingSync is off). It takes two flushes,
 *    the pages' and the header's.
 * 3. A read that meets damage fails as Corrupt and names what is damaged.
 */

import {
  type Database,
  open,
  type PutOptions,
  type RangeOptions,
  type RootDatabase,
  type RootDatabaseOptions,
  type Transaction,
} from "lmdb";
import { compareKeys } from "../model/key-order.ts";
import type { Entry, Revision } from "../model/store.ts";
import { commitFailure, damagedError, spaceFailure } from "./failures.ts";
import {
  decodeIndex,
  decodeLog,
  decodeState,
  encodeIndex,
  encodeLog,
  encodeState,
  type IndexEntry,
  type LogRecord,
  readRevisionKey,
  type State,
  writeRevisionKey,
} from "./records.ts";

export const TABLES = { log: "log", current: "current", meta: "meta" } as const;
export const STATE_KEY = "state";

/** What one commit changes. */
export interface Batch {
  /** In the order of their revisions. */
  readonly added: readonly LogRecord[];
  /** Revisions whose records are obsolete. */
  readonly dropped: readonly Revision[];
  readonly state: State;
}

type Key = string | Uint8Array;
type LmdbKey = Key | number;

interface KeyEncoder<K> {
  writeKey(key: K, target: Buffer, start: number): number;
  readKey(source: Buffer, start: number, end: number): K;
}

/** lmdb's types leave out the options of `put`. */
interface AppendableTable {
  put(key: Revision, record: LogRecord, options: PutOptions): Promise<boolean>;
}

const APPEND: PutOptions = { append: true };

const PAGE_BYTES = 4096;
/** LMDB rewrites all pages on the path to a changed one. A commit shares the upper pages and the list of free pages. */
const SHARED_PAGES = 64;
const PAGES_OF_RECORD = 3;
const DROPPED_IN_PAGE = 8;

export class Tables {
  readonly dir: string;
  readonly #root: RootDatabase<Buffer, string>;
  readonly #log: Database<LogRecord, Revision>;
  readonly #current: Database<IndexEntry, Key>;
  readonly #meta: Database<State, Key>;
  #at: { readonly transaction: Transaction };

  constructor(dir: string) {
    this.dir = dir;
    // With event-turn batching lmdb makes promises whose rejections cannot be handled. Low thresholds make it start to
    // write early, so that further requests are processed while the disk is busy.
    const options = {
      noSubdir: false,
      maxDbs: 3,
      encoding: "binary",
      overlappingSync: false,
      eventTurnBatching: false,
      txnStartThreshold: 1,
      batchStartThreshold: 1,
    } as const;
    this.#root = open(dir, options);
    const revisions = { writeKey: writeRevisionKey, readKey: readRevisionKey };
    const texts = { writeKey: writeTextKey, readKey: readTextKey };
    this.#log = this.#table(TABLES.log, revisions, (record: LogRecord) => encodeLog(record), decodeLog);
    this.#current = this.#table(TABLES.current, texts, encodeIndex, decodeIndex);
    this.#meta = this.#table(TABLES.meta, texts, encodeState, decodeState);
    this.#at = { transaction: this.#root.useReadTransaction() };
  }

  /** Undefined in a new environment. */
  state(): State | undefined {
    return this.#checked("its state", () => this.#meta.get(STATE_KEY, this.#at));
  }

  index(key: string): IndexEntry | undefined {
    return this.#checked(`the index at ${key}`, () => this.#current.get(key, this.#at));
  }

  /** Undefined when the record has been compacted. */
  record(revision: Revision): LogRecord | undefined {
    const record = this.#checked(`revision ${revision}`, () => this.#log.get(revision, this.#at));
    if (record !== undefined && record.revision !== revision) throw damagedError(this.dir, `revision ${revision}`);
    return record;
  }

  entry(key: string): Entry | undefined {
    const index = this.index(key);
    return index && this.#entryAt(key, index);
  }

  /** The entries with a prefix, in the order of their keys; only those after the key `after`, if given. */
  *entries(prefix: string, after?: string): Generator<Entry> {
    for (const { key, value } of this.#walk(this.#current, rangeOf(prefix, after), "the index"))
      yield this.#entryAt(String(key), value);
  }

  count(prefix: string): number {
    return this.#checked("the index", () => this.#current.getKeysCount({ ...rangeOf(prefix), ...this.#at }));
  }

  /** Records from one revision through another, all of which must exist. */
  *records(from: Revision, through: Revision): Generator<LogRecord> {
    let expected = from;
    for (const { key, value } of this.#walk(this.#log, { start: from, end: through + 1 }, "the log")) {
      if (key !== expected || value.revision !== expected) break;
      yield value;
      expected++;
    }
    if (expected <= through) throw damagedError(this.dir, `revision ${expected}`);
  }

  /** An estimate. */
  hasRoomFor(added: readonly LogRecord[]): boolean {
    return spaceFailure(this.dir, roomFor(added)) === undefined;
  }

  commit({ added, dropped, state }: Batch): Promise<void> {
    return this.#transact(roomFor(added, dropped.length), () => {
      const newest = new Map<string, LogRecord>();
      for (const record of added) {
        // Appending fills pages completely. Its own promise is ignored: that of the batch reports failures.
        (this.#log as AppendableTable).put(record.revision, record, APPEND).catch(() => undefined);
        newest.set(record.key, record);
      }
      for (const record of newest.values()) this.#point(record);
      for (const revision of dropped) void this.#log.remove(revision);
      void this.#meta.put(STATE_KEY, state);
    });
  }

  /** Writes records in any order of revisions. */
  load(records: readonly LogRecord[]): Promise<void> {
    return this.#transact(roomFor(records), () => {
      for (const record of records) {
        void this.#log.put(record.revision, record);
        this.#point(record);
      }
    });
  }

  async close(): Promise<void> {
    this.#at.transaction.done();
    await this.#root.close();
  }

  async #transact(bytes: number, write: () => void): Promise<void> {
    const full = spaceFailure(this.dir, bytes);
    if (full !== undefined) throw full;
    try {
      await this.#root.batch(write);
    } catch (error) {
      throw await commitFailure(this.dir, error);
    }
    this.#at.transaction.done();
    this.#at = { transaction: this.#root.useReadTransaction() };
  }

  /** Points the index to the record. */
  #point({ key, value, createRevision, revision }: LogRecord): void {
    if (value === undefined) void this.#current.remove(key);
    else void this.#current.put(key, { createRevision, revision });
  }

  #entryAt(key: string, { createRevision, revision }: IndexEntry): Entry {
    const record = this.record(revision);
    if (record?.value === undefined || record.key !== key || record.createRevision !== createRevision) {
      throw damagedError(this.dir, `the index and revision ${revision} do not agree about ${key}`);
    }
    return { key, value: record.value, createRevision, revision };
  }

  *#walk<V, K extends LmdbKey>(
    table: Database<V, K>,
    range: RangeOptions,
    subject: string,
  ): Generator<{ key: K; value: V }> {
    const steps = table.getRange({ ...range, ...this.#at })[Symbol.iterator]();
    const next = (): IteratorResult<{ key: K; value: V }> => steps.next();
    try {
      for (let step = this.#checked(subject, next); step.done !== true; step = this.#checked(subject, next))
        yield step.value;
    } finally {
      steps.return?.();
    }
  }

  #table<V, K extends LmdbKey>(
    name: string,
    keyEncoder: KeyEncoder<K>,
    encode: (value: V) => Buffer,
    decode: (bytes: Uint8Array) => V,
  ) {
    const options: RootDatabaseOptions = { keyEncoder, encoder: { encode, decode } };
    return this.#root.openDB<V, K>(name, options);
  }

  #checked<T>(subject: string, read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw damagedError(this.dir, subject, error);
    }
  }
}

function rangeOf(prefix: string, after?: string): RangeOptions {
  const end = prefixEnd(prefix);
  const range = end === undefined ? {} : { end };
  if (after && compareKeys(after, prefix) >= 0) return { ...range, start: after, exclusiveStart: true };
  return prefix === "" ? range : { ...range, start: prefix };
}

/** The first bytes after all keys with this prefix; undefined: to the end of the table. */
function prefixEnd(prefix: string): Buffer | undefined {
  const bytes = Buffer.from(prefix);
  for (let last = bytes.length - 1; last >= 0; last--) {
    const byte = bytes[last] ?? 0;
    if (byte === 0xff) continue;
    const end = bytes.subarray(0, last + 1);
    end[last] = byte + 1;
    return end;
  }
  return undefined;
}

function writeTextKey(key: Key, target: Buffer, start: number): number {
  if (typeof key === "string") return start + target.write(key, start, "utf8");
  target.set(key, start);
  return start + key.length;
}

function readTextKey(source: Buffer, start: number, end: number): string {
  return source.toString("utf8", start, end);
}

/** How much a commit may grow the file at most; mostly it reuses free pages. */
function roomFor(added: readonly LogRecord[], dropped = 0): number {
  let pages = SHARED_PAGES + Math.ceil(dropped / DROPPED_IN_PAGE);
  for (const { value } of added) pages += PAGES_OF_RECORD + Math.ceil((value?.length ?? 0) / PAGE_BYTES);
  return pages * PAGE_BYTES;
}
