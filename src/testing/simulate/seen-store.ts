/**
 * The store as the API server of a simulation sees it: its writes are written down, and take their time.
 *
 * 1. What is written down is what the store has, in the order of revisions.
 */
import { type KubeObject, parseJson } from "#api";
import type { Entry, ListOptions, ReadOptions, Store, WatchOptions, WriteOutcome } from "../../store/model/store.ts";
import type { Commit } from "./history.ts";

export interface SeenStoreOptions {
  readonly nowMs: () => number;
  readonly committed: (commit: Commit, bytes: Uint8Array | undefined) => void;
  /** How long a write takes, before and after it is done; undefined: no time. */
  readonly pause: () => Promise<void> | undefined;
}

/** The current objects, by key. */
export type Objects = Map<string, KubeObject>;

export function seenStore(store: Store, objects: Objects, { nowMs, committed, pause }: SeenStoreOptions): Store {
  const write = async (key: string, value: Buffer | undefined, act: () => Promise<WriteOutcome>) => {
    await pause();
    const outcome = await act();
    if (outcome.ok) {
      const previous = objects.get(key);
      const { revision } = outcome;
      const object = value === undefined ? undefined : parsed(value, revision);
      if (object === undefined) objects.delete(key);
      else objects.set(key, object);
      committed({ revision, key, object, previous, atMs: nowMs() }, value);
    }
    await pause();
    return outcome;
  };
  return {
    get: (key: string, options?: ReadOptions) => store.get(key, options),
    list: (prefix: string, options?: ListOptions) => store.list(prefix, options),
    count: (prefix: string, options?: ReadOptions) => store.count(prefix, options),
    create: (key, value) => write(key, value, () => store.create(key, value)),
    update: (key, value, expected) => write(key, value, () => store.update(key, value, expected)),
    delete: (key, expected) => write(key, undefined, () => store.delete(key, expected)),
    watch: (prefix: string, options: WatchOptions) => store.watch(prefix, options),
    revision: (options?: ReadOptions) => store.revision(options),
    compact: (revision) => store.compact(revision),
    close: () => store.close(),
  };
}

/** All objects of a state. */
export function objectsOf(entries: Iterable<Entry>): Objects {
  return new Map([...entries].map(({ key, value, revision }) => [key, parsed(value, revision)]));
}

function parsed(value: Buffer, revision: number): KubeObject {
  const object = parseJson(value.toString("utf8")) as unknown as KubeObject;
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
