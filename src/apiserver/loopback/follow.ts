/**
 * An informer inside the process: reports every object in the cache of a resource, then each change.
 *
 *     cache --► follower
 *
 * 1. Changes are reported in the turn in which the cache changes: when a write is answered, all followers have seen it.
 * 2. After `clear`, every object is reported again: changes may have been missed.
 * 3. An object that cannot be read, or that the follower cannot work with, is reported and counts as absent.
 */
import type { KubeObject } from "#api";
import type { StoredObject } from "../cache/stored-object.ts";
import type { Resource } from "../rest/resource.ts";

export interface Follower {
  clear(): void;
  /** An object that is new or has changed. `key`: `namespace/name`, or the name alone. */
  set(key: string, object: KubeObject): void;
  delete(key: string): void;
}

/** `revision`: the current one of the caches. The returned function stops it. */
export function follow(resource: Resource, revision: number, follower: Follower): () => void {
  const { cache } = resource;
  const keyOf = (stored: StoredObject) => stored.key.slice(cache.prefix.length);
  const set = (stored: StoredObject) => {
    const accept = () => follower.set(keyOf(stored), resource.read(stored));
    if (!resource.canRead(stored) || !cache.tryWith(stored, accept)) follower.delete(keyOf(stored));
  };
  const fill = () => {
    follower.clear();
    for (const stored of cache.snapshot().values()) set(stored);
  };
  const stop = cache.watch({}, Math.max(revision, cache.oldest), {
    event: ({ type, stored }) => {
      if (type === "DELETED") follower.delete(keyOf(stored));
      else set(stored);
    },
    expired: fill,
  });
  fill();
  // The start is never older than the cache's oldest revision, so that the watch is not refused.
  return stop ?? (() => {});
}
