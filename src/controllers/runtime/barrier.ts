/**
 * Read your own writes: a key is reconciled again only when the caches show the writes of its last run. So controllers
 * need no expectations of what they have just created or deleted.
 */
import type { KubeObject } from "#api";
import { type Informers, objectKey } from "#client";
import type { AnyResource } from "./plan.ts";

/** A write that a cache will show: by its revision, or by the absence of the object. */
export type Seen =
  | { readonly resource: AnyResource; readonly revision: number }
  | { readonly resource: AnyResource; readonly gone: KubeObject };

/**
 * The first write of a key that the caches do not show yet; undefined if they show all. Only watched resources count.
 */
export class Barrier {
  readonly #informers: Informers;
  readonly #pending = new Map<string, readonly Seen[]>();

  constructor(informers: Informers) {
    this.#informers = informers;
  }

  expect(key: string, seen: readonly Seen[]): void {
    const watched = seen.filter(({ resource }) => this.#informers.has(resource));
    if (watched.length === 0) this.#pending.delete(key);
    else this.#pending.set(key, watched);
  }

  /** Undefined: the key may run. Else resolves when the key should be checked again. */
  pending(key: string, signal: AbortSignal): Promise<void> | undefined {
    const left = (this.#pending.get(key) ?? []).filter((seen) => !this.#shown(seen));
    const [first] = left;
    if (first === undefined) {
      this.#pending.delete(key);
      return undefined;
    }
    this.#pending.set(key, left);
    const { cache } = this.#informers.of(first.resource);
    return cache.reached("revision" in first ? first.revision : cache.revision + 1, signal);
  }

  #shown(seen: Seen): boolean {
    const { cache } = this.#informers.of(seen.resource);
    if ("revision" in seen) return cache.revision >= seen.revision;
    const found = cache.get(objectKey(seen.gone));
    return (
      found === undefined ||
      found.metadata.uid !== seen.gone.metadata.uid ||
      found.metadata.deletionTimestamp !== undefined
    );
  }
}
