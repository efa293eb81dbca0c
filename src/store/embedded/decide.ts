/**
 * Decides the compare-and-swaps of one batch, in order. Pure: durable state and writes in, records and outcomes out.
 *
 * 1. A write sees the accepted writes before it in the batch, and the durable state below them.
 * 2. A write whose durable state cannot be read fails alone.
 */

import type { Entry, Revision, WriteOutcome } from "../model/store.ts";
import type { IndexEntry, LogRecord } from "./records.ts";

export interface Write {
  readonly key: string;
  /** Undefined: delete. */
  readonly value: Buffer | undefined;
  /** The revision that the key must have; undefined: it must not exist. */
  readonly expected: Revision | undefined;
}

/** The durable state. */
export interface Durable {
  /** `expected`: the revision that it probably has. */
  index(key: string, expected?: Revision): IndexEntry | undefined;
  entry(key: string): Entry | undefined;
}

export type Decision = WriteOutcome | { readonly failure: unknown };

export interface Decided {
  /** What the accepted writes add to the log. */
  readonly added: readonly LogRecord[];
  /** One for each write, in their order. */
  readonly decisions: readonly Decision[];
}

export function decide(writes: Iterable<Write>, head: Revision, durable: Durable): Decided {
  const added: LogRecord[] = [];
  const latest = new Map<string, LogRecord>();
  const decisions: Decision[] = [];
  for (const write of writes) {
    const { key, value, expected } = write;
    try {
      const overlaid = latest.get(key);
      const now = overlaid === undefined ? durable.index(key, expected) : existing(overlaid);
      if (now?.revision !== expected) {
        decisions.push({ ok: false, current: overlaid === undefined ? durable.entry(key) : existing(overlaid) });
        continue;
      }
      const revision = head + added.length + 1;
      const createRevision = now?.createRevision ?? revision;
      const record = { revision, key, value, createRevision, previousRevision: now?.revision ?? 0 };
      added.push(record);
      latest.set(key, record);
      decisions.push({ ok: true, revision });
    } catch (failure) {
      decisions.push({ failure });
    }
  }
  return { added, decisions };
}

function existing({ key, value, createRevision, revision }: LogRecord): Entry | undefined {
  return value && { key, value, createRevision, revision };
}
