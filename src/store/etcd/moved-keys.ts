/**
 * A view of a store whose keys are stored below another prefix, so that several clusters can share one etcd.
 *
 *     callers: /registry/core/pods/default/web ──► etcd: /production/core/pods/default/web
 *
 * 1. Callers see only keys below `from`; what else the store has is in no list, count or watch.
 * 2. Revisions are those of the store: order, compaction and progress do not change.
 */
import { checkList } from "../model/arguments.ts";
import { compareKeys } from "../model/key-order.ts";
import type { Change, Entry, ListOptions, Page, Store, Watch, WatchBatch, WriteOutcome } from "../model/store.ts";

export interface MovedKeys {
  /** The prefix of callers' keys. */
  readonly from: string;
  /** What the store has in its place. */
  readonly to: string;
}

export function movedKeys<S extends Store>(store: S, moved: MovedKeys): Store {
  const { from, to } = moved;
  const inward = (key: string): string => {
    if (!key.startsWith(from)) throw new RangeError(`Keys of this store begin with ${from}: ${key} does not.`);
    return to + key.slice(from.length);
  };
  /** Of a shorter prefix, everything below `from` is meant. */
  const prefixInward = (prefix: string): string => (from.startsWith(prefix) ? to : inward(prefix));
  const outward = (key: string): string => from + key.slice(to.length);
  const entryOut = (entry: Entry): Entry => ({ ...entry, key: outward(entry.key) });
  const maybeOut = (entry: Entry | undefined) => (entry === undefined ? undefined : entryOut(entry));
  const changeOut = ({ key, revision, entry, previous }: Change): Change => ({
    key: outward(key),
    revision,
    entry: maybeOut(entry),
    previous: maybeOut(previous),
  });
  const outcomeOut = (outcome: WriteOutcome): WriteOutcome =>
    outcome.ok ? outcome : { ok: false, current: maybeOut(outcome.current) };
  const list = async (prefix: string, options: ListOptions = {}): Promise<Page> => {
    checkList(prefix, options);
    const { after } = options;
    const isBefore = after === undefined || (!after.startsWith(from) && compareKeys(after, from) < 0);
    // A key behind all of this store's: the list is empty, and has the revision of the store.
    const start = isBefore ? undefined : after.startsWith(from) ? inward(after) : `${to}\u{10ffff}`;
    const page = await store.list(prefixInward(prefix), { ...options, after: start });
    return { ...page, entries: page.entries.map(entryOut) };
  };
  async function* batchesOut(inner: Watch): AsyncGenerator<WatchBatch> {
    for await (const { changes, revision } of inner) yield { changes: changes.map(changeOut), revision };
  }

  return {
    get: async (key, options) => maybeOut(await store.get(inward(key), options)),
    list,
    count: (prefix, options) => store.count(prefixInward(prefix), options),
    create: async (key, value, options) => outcomeOut(await store.create(inward(key), value, options)),
    update: async (key, value, expected, options) =>
      outcomeOut(await store.update(inward(key), value, expected, options)),
    delete: async (key, expected, options) => outcomeOut(await store.delete(inward(key), expected, options)),
    watch: (prefix, options) => {
      const inner = store.watch(prefixInward(prefix), options);
      return { requestProgress: () => inner.requestProgress(), [Symbol.asyncIterator]: () => batchesOut(inner) };
    },
    revision: (options) => store.revision(options),
    compact: (revision, options) => store.compact(revision, options),
    ...(store.sizeBytes !== undefined && { sizeBytes: () => store.sizeBytes?.() ?? Promise.resolve(0) }),
    close: () => store.close(),
  };
}
