/**
 * A store that encrypts values on writes and decrypts them on reads: the one place where that happens.
 *
 *     verbs, feed ──► encrypted store ══► store          the rules choose transformers by key
 *
 * 1. A value of a resource that is not encrypted costs a look at its first byte and its resource: no copy, no promise.
 * 2. A value that cannot be decrypted is still an entry: reading its object fails with the reason, other objects are
 *    not affected.
 * 3. `isOutdated`: a value was written with another transformer or key than a write would use now. An update without
 *    changes rewrites it.
 * 4. `readAgain` ends watches if a value could not be decrypted, so that everything is listed again.
 */
import { internalError } from "#api";
import { allKnown, andThen, isPending, type Logger, type Maybe, settle } from "#base";
import {
  type Change,
  type Entry,
  type Store,
  StoreError,
  type Watch,
  type WatchBatch,
  type WriteOutcome,
} from "#store";
import { unreadable } from "../cache/stored-object.ts";
import type { Reading, Rules } from "./rules.ts";
import { identityTransformer, isEncrypted } from "./transformer.ts";

export interface EncryptedStore extends Store {
  isOutdated(key: string): boolean;
  readAgain(): void;
}

export function encryptedStore(store: Store, rules: () => Rules, log: Logger): EncryptedStore {
  /** The marks of encrypted values, by key. */
  const marks = new Map<string, { readonly mark: string; readonly revision: number }>();
  const unread = new Set<string>();
  let again = new AbortController();

  const note = ({ key, revision }: Entry, mark: string) => {
    if ((marks.get(key)?.revision ?? 0) > revision) return;
    if (mark === "") marks.delete(key);
    else marks.set(key, { mark, revision });
    unread.delete(key);
  };
  const failed = (entry: Entry, error: unknown): Entry => {
    const why = `unable to transform key ${JSON.stringify(entry.key)}: ${(error as Error).message}`;
    if (!unread.has(entry.key)) log.error("an object cannot be read", { key: entry.key, error });
    unread.add(entry.key);
    return { ...entry, value: unreadable(why) };
  };
  const isPlain = ({ key, value }: Entry) =>
    !isEncrypted(value) && rules().transformersOf(key)[0] === identityTransformer;
  const decrypted = (entry: Entry): Maybe<Entry> => {
    if (isPlain(entry)) {
      note(entry, "");
      return entry;
    }
    const done = ({ value, mark }: Reading): Entry => {
      note(entry, mark);
      return { ...entry, value };
    };
    return settle(
      () => rules().read(entry.key, entry.value),
      done,
      (error) => failed(entry, error),
    );
  };
  const outcomeOf = async (outcome: Promise<WriteOutcome>): Promise<WriteOutcome> => {
    const answer = await outcome;
    if (answer.ok || answer.current === undefined) return answer;
    return { ok: false, current: await decrypted(answer.current) };
  };
  const encrypted = (key: string, value: Buffer): Buffer => {
    try {
      return rules().write(key, value);
    } catch (error) {
      throw internalError((error as Error).message, error);
    }
  };
  const changeOf = (change: Change): Maybe<Change> => {
    const { entry } = change;
    const previous = change.previous !== undefined && isPlain(change.previous) ? change.previous : undefined;
    if (entry === undefined) {
      marks.delete(change.key);
      unread.delete(change.key);
      return { ...change, previous };
    }
    return andThen(decrypted(entry), (read) =>
      read === entry && previous === change.previous ? change : { ...change, entry: read, previous },
    );
  };
  async function* batches(inner: Watch, restart: AbortSignal): AsyncGenerator<WatchBatch> {
    for await (const { changes, revision } of inner) {
      const read = allKnown(changes.map(changeOf));
      yield { changes: isPending(read) ? await read : read, revision };
    }
    if (restart.aborted)
      throw new StoreError("Unavailable", "how values are encrypted has changed: they are read again");
  }

  return {
    get: async (key, options) => {
      const entry = await store.get(key, options);
      return entry === undefined ? undefined : decrypted(entry);
    },
    list: async (prefix, options) => {
      const page = await store.list(prefix, options);
      return { ...page, entries: await allKnown(page.entries.map(decrypted)) };
    },
    count: (prefix, options) => store.count(prefix, options),
    create: async (key, value, options) => outcomeOf(store.create(key, encrypted(key, value), options)),
    update: async (key, value, expected, options) =>
      outcomeOf(store.update(key, encrypted(key, value), expected, options)),
    delete: (key, expected, options) => outcomeOf(store.delete(key, expected, options)),
    watch: (prefix, { after, signal }) => {
      const restart = again.signal;
      const inner = store.watch(prefix, { after, signal: AbortSignal.any([signal, restart]) });
      return { requestProgress: () => inner.requestProgress(), [Symbol.asyncIterator]: () => batches(inner, restart) };
    },
    revision: (options) => store.revision(options),
    compact: (revision, options) => store.compact(revision, options),
    close: () => store.close(),
    isOutdated: (key) => (marks.get(key)?.mark ?? "") !== rules().currentMark(key),
    readAgain: () => {
      if (unread.size === 0) return;
      again.abort();
      again = new AbortController();
    },
  };
}
