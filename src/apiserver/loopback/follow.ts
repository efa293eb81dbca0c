/**
 * Follows what a resource's cache holds, inside the process: everything that is there, then each change as it arrives.
 *
 *     cache --► follower
 *
 * 1. A follower is told in the turn in which the cache changes: when a write is answered, everyone who follows has seen
 *    it.
 * 2. After `clear`, everything that is there is told anew: changes may have been missed.
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

/** `revision`: how far the caches are now. The function ends it. */
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
  // It starts at or after the oldest revision that the cache knows, so that there always is a watch.
  return stop ?? (() => {});
}
