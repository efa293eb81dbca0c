/**
 * What is made of the objects of some resources, such as webhook configurations, and made anew when one of them changes.
 *
 * 1. A change counts for the next request after its write is answered: the cache tells of it in the same turn.
 * 2. Where there are no objects, asking costs a look at a number.
 */
import type { Resource } from "../../rest/resource.ts";

export class Followed<T> {
  readonly #resources: readonly Resource[];
  readonly #make: () => T;
  #made: { readonly value: T } | undefined;

  constructor(resources: readonly Resource[], make: () => T) {
    this.#resources = resources;
    this.#make = make;
    const changed = () => {
      this.#made = undefined;
    };
    for (const { cache } of resources) cache.watchChanges({}, cache.oldest, { change: changed, expired: changed });
  }

  /** Undefined where there is nothing to make it of. */
  get current(): T | undefined {
    if (this.#resources.some(({ cache }) => cache.size === 0)) return undefined;
    this.#made ??= { value: this.#make() };
    return this.#made.value;
  }
}
