/**
 * The embedded store on its durable state.
 *
 * 1. Reads see the last durable commit; writes go through the group commit; compaction runs behind it.
 * 2. Watches read recent changes from memory, older ones from the log.
 */

import { type Clock, type Logger, nextTurn } from "#base";
import { HistoryKeeper, type HistoryPolicy } from "../history/history.ts";
import { overlaid, pageOf, undo } from "../history/list-at.ts";
import { type LogSlice, LogWatches } from "../history/log-watch.ts";
import {
  checkKey,
  checkList,
  checkPrefix,
  checkReadable,
  checkRevision,
  closedError,
  compactedError,
  futureError,
} from "../model/arguments.ts";
import { isStoreError } from "../model/errors.ts";
import type {
  Change,
  Entry,
  ListOptions,
  Page,
  Revision,
  Store,
  Watch,
  WatchOptions,
  WriteOutcome,
} from "../model/store.ts";
import { compactThrough } from "./compaction.ts";
import type { Write } from "./decide.ts";
import type { DurableState } from "./durable-state.ts";
import { type CommitTarget, GroupCommit } from "./group-commit.ts";
import { type RecentChange, RecentChanges } from "./recent-changes.ts";
import { entryOf, type LogRecord } from "./records.ts";
import { Replaced } from "./replaced.ts";

const RECENT_BYTES = 16 * 1024 * 1024;
/** How many records of the log are read in one turn of the event loop. */
const SCAN_RECORDS = 2000;

export interface EmbeddedParts {
  readonly durable: DurableState;
  readonly clock: Clock;
  readonly log: Logger;
  readonly history: HistoryPolicy;
  /** The size of its files. */
  sizeBytes(): number;
  /** Called when everything is closed; `clean` if the tables hold all records. */
  released(clean: boolean): void;
}

export class EmbeddedStore implements Store {
  readonly #parts: EmbeddedParts;
  readonly #durable: DurableState;
  readonly #commits: GroupCommit;
  readonly #recent = new RecentChanges(RECENT_BYTES);
  readonly #replaced = new Replaced();
  readonly #watches: LogWatches;
  readonly #history: HistoryKeeper;
  readonly #end = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(parts: EmbeddedParts) {
    const { durable, clock, history } = parts;
    this.#parts = parts;
    this.#durable = durable;
    const target: CommitTarget = {
      index: (key, expected) => this.#recent.current(key, expected) ?? durable.index(key),
      entry: (key) => durable.entry(key),
      commit: (added) => durable.commit(added),
      show: (added) => durable.show(added),
    };
    this.#commits = new GroupCommit(target, durable.head, (records) => this.#committed(records));
    this.#watches = new LogWatches({
      head: () => this.#commits.head,
      read: (prefix, after, limit) => this.#readLog(prefix, after, limit),
    });
    const keeping = {
      clock,
      policy: history,
      signal: this.#end.signal,
      compact: (revision: Revision) => this.#compact(revision),
      failed: (error: unknown) => {
        if (!isStoreError(error, "Closed")) parts.log.warn("Old revisions could not be compacted.", { error });
      },
    };
    this.#history = new HistoryKeeper(keeping, durable.compacted, durable.head);
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#checkOpen();
    checkKey(key);
    return this.#durable.entry(key);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Page> {
    this.#checkOpen();
    checkList(prefix, options);
    const { head } = this.#commits;
    const { revision = head, limit, after } = options;
    checkReadable(revision, this.#durable.compacted, head);
    const entries = this.#durable.entries(prefix, after);
    if (revision === head) return pageOf(entries, revision, limit);
    const undone = undo(this.#changesSince(revision, head, prefix), prefix, after);
    return pageOf(overlaid(entries, undone), revision, limit);
  }

  async count(prefix: string): Promise<number> {
    this.#checkOpen();
    checkPrefix(prefix);
    return this.#durable.count(prefix);
  }

  async sizeBytes(): Promise<number> {
    this.#checkOpen();
    return this.#parts.sizeBytes();
  }

  async revision(): Promise<Revision> {
    this.#checkOpen();
    return this.#commits.head;
  }

  create(key: string, value: Buffer): Promise<WriteOutcome> {
    return this.#write({ key, value, expected: undefined });
  }

  update(key: string, value: Buffer, expected: Revision): Promise<WriteOutcome> {
    return this.#write({ key, value, expected });
  }

  delete(key: string, expected: Revision): Promise<WriteOutcome> {
    return this.#write({ key, value: undefined, expected });
  }

  watch(prefix: string, options: WatchOptions): Watch {
    return this.#watches.watch(prefix, options);
  }

  async compact(revision: Revision): Promise<void> {
    this.#checkOpen();
    checkRevision(revision);
    const { head } = this.#commits;
    if (revision > head) throw futureError(revision, head);
    await this.#compact(revision);
  }

  #compact(revision: Revision): Promise<void> {
    return compactThrough(revision, { durable: this.#durable, replaced: this.#replaced });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#end.abort();
    await this.#commits.close();
    this.#watches.close();
    this.#parts.released(await this.#durable.close());
  }

  #write(write: Write): Promise<WriteOutcome> {
    try {
      checkKey(write.key);
      if (write.expected !== undefined) checkRevision(write.expected);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#commits.write(write);
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw closedError();
  }

  #committed(records: readonly LogRecord[]): void {
    let replacedBytes = 0;
    for (const record of records) {
      const { previous } = this.#recent.add(record);
      this.#replaced.add(record);
      // The old value is not read only for its size: it counts as large as its replacement.
      if (record.previousRevision !== 0) replacedBytes += (previous?.value ?? record.value)?.length ?? 0;
    }
    for (const { key, revision } of records) this.#watches.changed(key, revision);
    const newest = records.at(-1);
    if (newest !== undefined) this.#history.wrote(newest.revision, replacedBytes);
  }

  #readLog(prefix: string, after: Revision, limit: number): LogSlice | Promise<LogSlice> {
    const { head } = this.#commits;
    const { compacted } = this.#durable;
    if (after < compacted) throw compactedError(after, compacted);
    if (after < head && this.#recent.at(after + 1) === undefined) return this.#readOldLog(prefix, after, limit);
    const changes: Change[] = [];
    let through = after;
    while (through < head && changes.length < limit) {
      const recent = this.#recent.at(++through);
      if (recent?.record.key.startsWith(prefix) === true) changes.push(this.#changeOf(recent.record, recent));
    }
    return { changes, through };
  }

  /** Yields to the event loop before each slice: history may be long. */
  async #readOldLog(prefix: string, after: Revision, limit: number): Promise<LogSlice> {
    await nextTurn();
    this.#checkOpen();
    const { head } = this.#commits;
    const { compacted } = this.#durable;
    if (after < compacted) throw compactedError(after, compacted);
    const changes: Change[] = [];
    let through = after;
    for (const record of this.#durable.records(after + 1, Math.min(head, after + SCAN_RECORDS))) {
      through = record.revision;
      if (record.key.startsWith(prefix)) changes.push(this.#changeOf(record));
      if (changes.length === limit) break;
    }
    return { changes, through };
  }

  *#changesSince(revision: Revision, head: Revision, prefix: string): Generator<Change> {
    const recent = revision < head && this.#recent.at(revision + 1) !== undefined;
    for (const record of recent ? this.#recent.records(revision + 1) : this.#durable.records(revision + 1, head)) {
      if (record.key.startsWith(prefix)) yield this.#changeOf(record, this.#recent.at(record.revision));
    }
  }

  #changeOf(record: LogRecord, recent?: RecentChange): Change {
    const entry = recent === undefined ? entryOf(record) : recent.entry;
    return new LoggedChange(record, entry, () => recent?.previous ?? this.#previousOf(record));
  }

  /** Undefined if the key was created, its previous state is compacted, or the store can no longer read. */
  #previousOf({ previousRevision }: LogRecord): Entry | undefined {
    const isKnown = previousRevision !== 0 && this.#closing === undefined;
    const record = isKnown ? this.#durable.record(previousRevision) : undefined;
    return record && entryOf(record);
  }
}

/** The previous state is read from disk only on demand: most watchers have seen it. */
class LoggedChange implements Change {
  readonly key: string;
  readonly revision: Revision;
  readonly entry: Entry | undefined;
  readonly #readPrevious: () => Entry | undefined;

  constructor({ key, revision }: LogRecord, entry: Entry | undefined, readPrevious: () => Entry | undefined) {
    this.key = key;
    this.revision = revision;
    this.entry = entry;
    this.#readPrevious = readPrevious;
  }

  get previous(): Entry | undefined {
    return this.#readPrevious();
  }
}
