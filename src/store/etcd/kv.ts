/**
 * Reads and writes: each call of the store as one request to etcd (a long list as several, all as of one revision).
 *
 * 1. Every write is a transaction on one key: compare, write if equal, else read what is there. So a refused write
 *    shows the very state that refused it. What happens when its answer is lost: writes.ts.
 * 2. etcd takes revision 0 for "newest"; the store does not, so 0 never goes out.
 */

import { checkList, checkPrefix, checkRevision, compactedError, futureError } from "../model/arguments.ts";
import { isStoreError } from "../model/errors.ts";
import type {
  CallOptions,
  Change,
  Entry,
  ListOptions,
  Page,
  ReadOptions,
  Revision,
  WriteOutcome,
} from "../model/store.ts";
import type { Connection } from "./connection.ts";
import type { Reach } from "./endpoint.ts";
import { oldestRevision } from "./feed.ts";
import { entryOf, type KeyRange, keyBytes, NUL, rangeOf } from "./keys.ts";
import type { Message, Request } from "./rpc.ts";
import { type Swap, Writes } from "./writes.ts";

/** Longer lists are fetched in parts: no message, and no turn of the event loop, grows with the cluster. */
const PART_ENTRIES = 5000;
/** The revision of an empty etcd. */
const EMPTY_REVISION = 1;
const COMPARE = { createRevision: 1, modRevision: 2 } as const;

export class KeyValues {
  readonly #connection: Connection;
  readonly #writes: Writes;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#writes = new Writes(connection);
  }

  async get(key: string, options: ReadOptions = {}): Promise<Entry | undefined> {
    const { kvs } = await this.#range({ key: keyBytes(key) }, options);
    return kvs[0] === undefined ? undefined : entryOf(kvs[0]);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Page> {
    checkList(prefix, options);
    // An empty range is still requested, as a key that cannot exist: the answer has the revision, or says that it is
    // compacted.
    const range = rangeOf(prefix, options.after) ?? { key: NUL };
    const deadline = this.#connection.deadline(options);
    try {
      return await this.#parts(range, options, deadline, PART_ENTRIES);
    } catch (error) {
      const { revision } = options;
      if (isStoreError(error, "FutureRevision")) throw futureError(revision ?? 0, this.#connection.newest);
      if (!isStoreError(error, "Compacted")) throw error;
      // The newest state was compacted between two parts: read it again in one part.
      if (revision === undefined) return this.#parts(range, options, deadline, Number.MAX_SAFE_INTEGER);
      throw compactedError(revision, await oldestRevision(this.#connection, deadline));
    }
  }

  async count(prefix: string, options: ReadOptions = {}): Promise<number> {
    checkPrefix(prefix);
    const range = rangeOf(prefix);
    return Number((await this.#range({ ...range, countOnly: true }, options)).count);
  }

  async revision(options: ReadOptions = {}): Promise<Revision> {
    return revisionIn(await this.#range({ key: NUL, countOnly: true }, options));
  }

  async create(key: string, value: Buffer, options: CallOptions = {}): Promise<WriteOutcome> {
    const bytes = keyBytes(key);
    const compare = { key: bytes, target: COMPARE.createRevision, createRevision: 0 };
    const isLike = ({ entry, previous }: Change) => previous === undefined && entry?.value.equals(value) === true;
    return this.#swap({ key: bytes, compare, write: { put: { key: bytes, value } }, isLike, isUnique: true }, options);
  }

  async update(key: string, value: Buffer, expected: Revision, options: CallOptions = {}): Promise<WriteOutcome> {
    const bytes = keyBytes(key);
    const isLike = ({ entry, previous }: Change) =>
      previous?.revision === expected && entry?.value.equals(value) === true;
    return this.#swapExisting(bytes, expected, { put: { key: bytes, value } }, isLike, options);
  }

  async delete(key: string, expected: Revision, options: CallOptions = {}): Promise<WriteOutcome> {
    const bytes = keyBytes(key);
    const isLike = ({ entry, previous }: Change) => previous?.revision === expected && entry === undefined;
    return this.#swapExisting(bytes, expected, { deleteRange: { key: bytes } }, isLike, options);
  }

  async compact(revision: Revision, options: CallOptions = {}): Promise<void> {
    checkRevision(revision);
    if (revision === 0) return;
    const { rpc } = this.#connection;
    try {
      // Idempotent, so it may be sent to one member after the other.
      await this.#connection.read(rpc.compact, { revision, physical: false }, this.#connection.deadline(options));
    } catch (error) {
      if (isStoreError(error, "FutureRevision")) throw futureError(revision, this.#connection.newest);
      if (!isStoreError(error, "Compacted")) throw error;
    }
  }

  async #parts(
    range: KeyRange | { readonly key: Buffer },
    options: ListOptions,
    deadline: number,
    partEntries: number,
  ): Promise<Page> {
    const { limit = Number.POSITIVE_INFINITY } = options;
    const entries: Entry[] = [];
    let { revision } = options;
    let { key } = range;
    for (;;) {
      const request = {
        ...range,
        key,
        limit: Math.min(limit - entries.length, partEntries),
        revision: revision === undefined ? 0 : Math.max(revision, EMPTY_REVISION),
      };
      const { kvs, more, ...answer } = await this.#range(request, options, deadline);
      for (const kv of kvs) entries.push(entryOf(kv));
      revision ??= revisionIn(answer);
      const last = kvs.at(-1);
      if (!more || last === undefined || entries.length >= limit) return { entries, revision, more };
      key = Buffer.concat([last.key, NUL]);
    }
  }

  #range(
    request: Request<"RangeRequest">,
    options: ReadOptions,
    deadline = this.#connection.deadline(options),
  ): Promise<Message<"RangeResponse">> {
    const reach: Reach = options.consistency === "local" ? "local" : "cluster";
    const whole = { ...request, serializable: reach === "local" };
    return this.#connection.read(this.#connection.rpc.range, whole, deadline, reach);
  }

  async #swapExisting(
    key: Buffer,
    expected: Revision,
    write: Request<"RequestOp">,
    isLike: Swap["isLike"],
    options: CallOptions,
  ): Promise<WriteOutcome> {
    checkRevision(expected);
    // etcd compares an absent key as revision 0; in the store revision 0 never matches.
    const modRevision = expected === 0 ? -1 : expected;
    const compare = { key, target: COMPARE.modRevision, modRevision };
    return this.#swap({ key, compare, write, isLike, isUnique: false }, options);
  }

  async #swap(swap: Swap, options: CallOptions): Promise<WriteOutcome> {
    const answer = await this.#writes.swap(swap, this.#connection.deadline(options));
    if (answer.succeeded) return { ok: true, revision: answer.revision };
    return { ok: false, current: answer.current === undefined ? undefined : entryOf(answer.current) };
  }
}

function revisionIn({ header }: { readonly header: Message<"ResponseHeader"> | null }): Revision {
  if (header === null) throw new TypeError("An answer of etcd has no header.");
  return Number(header.revision);
}
