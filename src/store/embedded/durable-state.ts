/**
 * The durable state: the tables, and the newest records, which are only in the journal so far.
 *
 *     commit ══► journal, one flush ──► pending
 *                                          └··· in slices ══► tables ··· a half of the journal is free again
 *
 * 1. Reads see exactly what `commit` has reported.
 * 2. Pending records are applied to the tables in the background, many at a time, when there are enough of them. A
 *    writer waits for that only if the journal has no room left.
 * 3. Maintenance is part of the commits that apply records: it is decided on the state of the tables after that commit.
 * 4. If the disk has no space for the tables, the records stay pending, and each commit tries again; it fails as `Full`
 *    once the journal is full. After any other failure no more writes are accepted.
 */

import type { Logger } from "#base";
import { overlaid } from "../history/list-at.ts";
import { closedError } from "../model/arguments.ts";
import { isStoreError } from "../model/errors.ts";
import type { Entry, Revision } from "../model/store.ts";
import { writeFailure } from "./failures.ts";
import type { Journal } from "./journal.ts";
import { Pending } from "./pending.ts";
import { entryOf, type IndexEntry, type LogRecord, type State } from "./records.ts";
import type { Tables } from "./tables.ts";

/** The changes of a maintenance step. */
export interface Maintenance {
  readonly dropped: readonly Revision[];
  readonly compacted: Revision;
}

/** `state`: the tables' state after the commit. */
export type Step = (state: State) => Maintenance;

interface QueuedStep {
  readonly decide: Step;
  resolve(): void;
  reject(error: unknown): void;
}

/** Records are applied when this many bytes are pending. */
const APPLY_BYTES = 1024 * 1024;
const APPLY_RECORDS = 2000;
/** The limit of one commit to the tables: encoding it blocks the event loop. */
const SLICE_BYTES = 512 * 1024;
const SLICE_RECORDS = 500;

export interface DurableParts {
  readonly tables: Tables;
  readonly journal: Journal;
  /** The state of the tables. */
  readonly state: State;
  /** Records that are in the journal and not in the tables. */
  readonly pending?: readonly LogRecord[] | undefined;
  readonly log: Logger;
}

export class DurableState {
  readonly #tables: Tables;
  readonly #journal: Journal;
  readonly #log: Logger;
  readonly #pending = new Pending();
  #state: State;
  #steps: QueuedStep[] = [];
  #applying: Promise<void> | undefined;
  /** Why no more writes are accepted. */
  #failure: unknown;
  #closed = false;
  /** The last commit to the tables failed and has been logged. */
  #isBehind = false;

  constructor({ tables, journal, state, pending = [], log }: DurableParts) {
    this.#tables = tables;
    this.#journal = journal;
    this.#log = log;
    this.#state = state;
    this.#pending.add(pending);
  }

  /** The newest visible revision. */
  get head(): Revision {
    return Math.max(this.#state.head, this.#pending.newest);
  }

  get compacted(): Revision {
    return this.#state.compacted;
  }

  index(key: string): IndexEntry | undefined {
    const record = this.#pending.of(key);
    return record === undefined ? this.#tables.index(key) : entryOf(record);
  }

  entry(key: string): Entry | undefined {
    const record = this.#pending.of(key);
    return record === undefined ? this.#tables.entry(key) : entryOf(record);
  }

  /** Undefined when the record has been compacted. */
  record(revision: Revision): LogRecord | undefined {
    return this.#pending.at(revision) ?? this.#tables.record(revision);
  }

  entries(prefix: string, after?: string): Iterable<Entry> {
    const entries = this.#tables.entries(prefix, after);
    return this.#pending.size === 0 ? entries : overlaid(entries, this.#pending.overlay(prefix, after));
  }

  count(prefix: string): number {
    let count = this.#tables.count(prefix);
    for (const [key, entry] of this.#pending.overlay(prefix))
      count += Number(entry !== undefined) - Number(this.#tables.index(key) !== undefined);
    return count;
  }

  /** Records from one revision through another, all of which must exist. */
  *records(from: Revision, through: Revision): Generator<LogRecord> {
    const { head } = this.#state;
    if (from <= head) yield* this.#tables.records(from, Math.min(through, head));
    for (let revision = Math.max(from, head + 1); revision <= through; revision++) {
      const record = this.record(revision);
      if (record !== undefined) yield record;
    }
  }

  /** Durable when it resolves. One call at a time, with the revisions that follow the newest one. */
  async commit(added: readonly LogRecord[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const frame = this.#journal.frame(added);
    if (frame === undefined) return this.#commitLarge(added);
    await this.#reach(this.#journal.waitsFor(frame));
    try {
      await this.#journal.append(frame, newestOf(added));
    } catch (error) {
      this.#giveUp(writeFailure(this.#tables.dir, error));
      throw this.#failure;
    }
  }

  /** Makes the commit visible to reads. */
  show(added: readonly LogRecord[]): void {
    if (newestOf(added) <= this.#state.head) return;
    this.#pending.add(added);
    if (this.#pending.bytes >= APPLY_BYTES || this.#pending.size >= APPLY_RECORDS) this.#applyBehind();
  }

  /** Runs a step with one of the next commits to the tables. */
  maintain(decide: Step): Promise<void> {
    const refusal = this.#closed ? closedError() : this.#failure;
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.#steps.push({ decide, resolve, reject });
      this.#applyBehind();
    });
  }

  /** True if the tables hold all records now. Otherwise the next start needs the journal. */
  async close(): Promise<boolean> {
    this.#closed = true;
    for (const { reject } of this.#steps.splice(0)) reject(closedError());
    try {
      while (this.#failure === undefined && !this.#isApplied) await this.#apply();
    } catch {
      // The next start continues from the journal, or reports the fault.
    }
    this.#journal.close();
    await this.#tables.close();
    return this.#failure === undefined && this.#pending.size === 0;
  }

  get #isApplied(): boolean {
    return this.#applying === undefined && this.#pending.size === 0;
  }

  async #commitLarge(added: readonly LogRecord[]): Promise<void> {
    while (!this.#isApplied) await this.#apply();
    await this.#alone(() => this.#commitToTables(added));
  }

  /** Waits until the tables hold a revision. A lack of space for later records does not matter. */
  async #reach(revision: Revision): Promise<void> {
    while (this.#state.head < revision) {
      await this.#apply().catch((error: unknown) => {
        if (this.#state.head < revision) throw error;
      });
    }
  }

  #applyBehind(): void {
    this.#apply().catch(() => undefined); // logged, and reported to writers that fail because of it
  }

  /** Applies the records that are pending now. */
  #apply(): Promise<void> {
    return this.#applying ?? this.#alone(() => this.#applySlices());
  }

  #alone(work: () => Promise<void>): Promise<void> {
    this.#applying = work().finally(() => {
      this.#applying = undefined;
      if (this.#steps.length > 0) this.#applyBehind();
    });
    return this.#applying;
  }

  async #applySlices(): Promise<void> {
    const through = this.#pending.newest;
    while (this.#state.head < through || this.#steps.length > 0) await this.#commitToTables(this.#slice());
  }

  /** Smaller if little space is left: some records may fit where many do not. */
  #slice(): readonly LogRecord[] {
    let slice = this.#pending.oldest(SLICE_RECORDS, SLICE_BYTES);
    while (slice.length > 1 && !this.#tables.hasRoomFor(slice)) slice = slice.slice(0, slice.length >> 1);
    return slice;
  }

  async #commitToTables(added: readonly LogRecord[]): Promise<void> {
    const step = this.#steps.shift();
    try {
      const reached = { ...this.#state, head: Math.max(this.#state.head, newestOf(added)) };
      const { dropped, compacted } = decided(step, reached) ?? { dropped: [], compacted: reached.compacted };
      const state = { ...reached, compacted };
      await this.#tables.commit({ added, dropped, state });
      this.#state = state;
      this.#isBehind = false;
      this.#pending.forget(state.head);
      step?.resolve();
    } catch (error) {
      step?.reject(error);
      if (!isStoreError(error, "Full")) this.#giveUp(error);
      if (!this.#isBehind) this.#log.warn("Records of the journal could not be applied to the tables yet.", { error });
      this.#isBehind = true;
      throw error;
    }
  }

  #giveUp(error: unknown): void {
    this.#failure ??= error;
    for (const { reject } of this.#steps.splice(0)) reject(error);
  }
}

/** A step that cannot be decided fails alone. */
function decided(step: QueuedStep | undefined, state: State): Maintenance | undefined {
  try {
    return step?.decide(state);
  } catch (error) {
    step?.reject(error);
    return undefined;
  }
}

function newestOf(records: readonly LogRecord[]): Revision {
  return records.at(-1)?.revision ?? 0;
}
