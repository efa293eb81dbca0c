/**
 * The whole state of a store at one revision as a stream of bytes: the same for all backends, so that a snapshot of one
 * can be loaded into another. It compresses by piping it through gzip; see snapshot-format.ts for the bytes.
 *
 * 1. Entries are in the order of their keys' bytes, all at one revision, whatever is written meanwhile.
 * 2. A file that is cut off, damaged or newer than this code fails as Corrupt or NewerFormat. Damage may only show at
 *    the end: callers make what they load visible only then, or check it with `verifySnapshot` before.
 * 3. Restored revisions never go back: see RestoreOptions.
 */

import { crc32 } from "node:zlib";
import type { Clock } from "#base";
import { compareKeys } from "../model/key-order.ts";
import type { Entry, Revision, Store } from "../model/store.ts";
import { ByteReader } from "./byte-reader.ts";
import {
  checksumBytes,
  checkTrailer,
  corrupt,
  ENTRY,
  entryBytes,
  headerBytes,
  readEntry,
  readHeader,
  readKind,
  TRAILER,
  trailerBytes,
} from "./snapshot-format.ts";

const PAGE_ENTRIES = 200;

export interface SnapshotHeader {
  readonly revision: Revision;
  /** Milliseconds since the epoch. */
  readonly createdMs: number;
}

export interface Snapshot extends SnapshotHeader {
  /** To be read once, to the end: only then the checksum is verified. */
  readonly entries: AsyncIterable<Entry>;
}

export interface RestoreOptions {
  readonly clock: Clock;
  /**
   * The restored store starts at this revision if the snapshot is older: clients that have seen revisions beyond the
   * snapshot's must never see them again with other contents.
   */
  readonly revisionAtLeast?: Revision;
}

/**
 * What a durable backend offers for snapshots: it makes a new store at `place` and answers with the revision at which
 * it starts; all history before is compacted. If it fails, there is nothing at `place` that could be opened.
 */
export type Restore<Place> = (
  place: Place,
  source: AsyncIterable<Uint8Array>,
  options: RestoreOptions,
) => Promise<Revision>;

/** The revision that a store restored from this snapshot starts at. */
export function restoredRevision(snapshot: SnapshotHeader, options: Pick<RestoreOptions, "revisionAtLeast">): Revision {
  return Math.max(snapshot.revision, options.revisionAtLeast ?? 0);
}

/** Reads the store page by page at one revision, while writes go on. */
export async function* writeSnapshot(store: Store, clock: Clock): AsyncGenerator<Buffer, void, undefined> {
  const createdMs = clock.now();
  let page = await store.list("", { limit: PAGE_ENTRIES });
  const { revision } = page;
  const header = headerBytes({ revision, createdMs });
  let checksum = crc32(header);
  let count = 0;
  yield header;
  for (;;) {
    const chunk = Buffer.concat(page.entries.flatMap(entryBytes));
    checksum = crc32(chunk, checksum);
    count += page.entries.length;
    if (chunk.length > 0) yield chunk;
    const last = page.entries.at(-1);
    if (last === undefined || !page.more) break;
    page = await store.list("", { limit: PAGE_ENTRIES, revision, after: last.key });
  }
  const trailer = trailerBytes(count);
  yield Buffer.concat([trailer, checksumBytes(crc32(trailer, checksum))]);
}

/**
 * Reads the header at once, so that a file that is not a snapshot, or is newer, fails here; entries are read on demand.
 */
export async function readSnapshot(source: AsyncIterable<Uint8Array>): Promise<Snapshot> {
  const bytes = new ByteReader(source);
  try {
    const header = await readHeader(bytes);
    return { ...header, entries: readEntries(bytes, header.revision) };
  } catch (error) {
    await bytes.release();
    throw error;
  }
}

/** Reads a snapshot to its end and discards it: throws if it could not be loaded. */
export async function verifySnapshot(
  source: AsyncIterable<Uint8Array>,
): Promise<SnapshotHeader & { readonly count: number }> {
  const { revision, createdMs, entries } = await readSnapshot(source);
  let count = 0;
  for await (const _ of entries) count++;
  return { revision, createdMs, count };
}

async function* readEntries(bytes: ByteReader, revision: Revision): AsyncGenerator<Entry, void, undefined> {
  let count = 0;
  let last = "";
  try {
    for (let kind = await readKind(bytes); kind !== TRAILER; kind = await readKind(bytes)) {
      if (kind !== ENTRY) throw corrupt("it holds something unknown");
      const entry = await readEntry(bytes);
      if (compareKeys(last, entry.key) >= 0) throw corrupt("its keys are out of order");
      if (entry.createRevision > entry.revision || entry.revision > revision) {
        throw corrupt("an entry has an impossible revision");
      }
      last = entry.key;
      count++;
      yield entry;
    }
    await checkTrailer(bytes, count);
  } finally {
    await bytes.release();
  }
}
