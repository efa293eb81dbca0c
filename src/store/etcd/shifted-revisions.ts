/**
 * A view of a store whose revisions are all higher by one number: of an etcd that took over another store's state, and
 * whose own revisions start anew. Clients must never see revisions go back.
 *
 * 1. What is older than the takeover cannot be read: it is Compacted.
 * 2. The shift is a key of the store's own, written with the last step of the takeover; all servers read it at start.
 */
import { compactedError, futureError } from "../model/arguments.ts";
import { isStoreError } from "../model/errors.ts";
import type { Change, Entry, Page, Revision, Store, Watch, WatchBatch, WriteOutcome } from "../model/store.ts";

export function shiftedRevisions(store: Store, shift: number): Store {
  const outward = (revision: Revision): Revision => revision + shift;
  /** Revisions up to the shift are those of the store before. */
  const inward = (revision: Revision): Revision => {
    if (revision <= shift) throw compactedError(revision, outward(1));
    return revision - shift;
  };
  const entryOut = (entry: Entry): Entry => ({
    ...entry,
    createRevision: outward(entry.createRevision),
    revision: outward(entry.revision),
  });
  const maybeOut = (entry: Entry | undefined) => (entry === undefined ? undefined : entryOut(entry));
  const changeOut = ({ key, revision, entry, previous }: Change): Change => ({
    key,
    revision: outward(revision),
    entry: maybeOut(entry),
    previous: maybeOut(previous),
  });
  const outcomeOut = (outcome: WriteOutcome): WriteOutcome =>
    outcome.ok ? { ok: true, revision: outward(outcome.revision) } : { ok: false, current: maybeOut(outcome.current) };
  const errorOut = async (error: unknown, revision: Revision | undefined): Promise<unknown> => {
    if (isStoreError(error, "Compacted") && error.compactRevision !== undefined)
      return compactedError(revision ?? 0, outward(error.compactRevision));
    if (isStoreError(error, "FutureRevision")) return futureError(revision ?? 0, outward(await store.revision()));
    return error;
  };
  const named = async <T>(revision: Revision | undefined, call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      throw await errorOut(error, revision);
    }
  };
  async function* batchesOut(make: () => Watch, after: Revision, started: (watch: Watch) => void) {
    try {
      const inner = make();
      started(inner);
      for await (const { changes, revision } of inner)
        yield { changes: changes.map(changeOut), revision: outward(revision) } satisfies WatchBatch;
    } catch (error) {
      throw await errorOut(error, after);
    }
  }
  /** No entry has it: nothing matches. */
  const expectedIn = (expected: Revision): Revision => Math.max(0, expected - shift);

  return {
    get: async (key, options) => maybeOut(await store.get(key, options)),
    list: (prefix, options = {}) =>
      named(options.revision, async (): Promise<Page> => {
        const revision = options.revision === undefined ? undefined : inward(options.revision);
        const page = await store.list(prefix, { ...options, revision });
        return { ...page, entries: page.entries.map(entryOut), revision: outward(page.revision) };
      }),
    count: (prefix, options) => store.count(prefix, options),
    create: async (key, value, options) => outcomeOut(await store.create(key, value, options)),
    update: async (key, value, expected, options) =>
      outcomeOut(await store.update(key, value, expectedIn(expected), options)),
    delete: async (key, expected, options) => outcomeOut(await store.delete(key, expectedIn(expected), options)),
    watch: (prefix, options) => {
      let inner: Watch | undefined;
      let asked = false;
      const started = (watch: Watch) => {
        inner = watch;
        if (asked) watch.requestProgress();
      };
      return {
        requestProgress: () => {
          asked = true;
          inner?.requestProgress();
        },
        [Symbol.asyncIterator]: () =>
          batchesOut(() => store.watch(prefix, { ...options, after: inward(options.after) }), options.after, started),
      };
    },
    revision: async (options) => outward(await store.revision(options)),
    compact: (revision, options) =>
      named(revision, async () => {
        // Everything before the takeover is compacted already.
        if (revision > shift) await store.compact(revision - shift, options);
      }),
    ...(store.sizeBytes !== undefined && { sizeBytes: () => store.sizeBytes?.() ?? Promise.resolve(0) }),
    close: () => store.close(),
  };
}
