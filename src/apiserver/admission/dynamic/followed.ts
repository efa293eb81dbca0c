/**
 * A value derived from the objects of some resources, such as webhook configurations, and derived anew when one of them
 * changes.
 *
 * 1. A change holds for every request after the answer to its write.
 * 2. While there are no objects, it costs a comparison of a number.
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

  /** Undefined while there are no objects. */
  get current(): T | undefined {
    if (this.#resources.some(({ cache }) => cache.size === 0)) return undefined;
    this.#made ??= { value: this.#make() };
    return this.#made.value;
  }
}
