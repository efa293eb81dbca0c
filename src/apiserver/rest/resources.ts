/**
 * All served resources, by group, version and plural name.
 *
 * 1. Resources are added and removed while requests are served; a request keeps the resource that it found.
 * 2. Resources whose objects are stored under one prefix share a cache.
 */
import type { Kind } from "#api";
import type { StoreFeed } from "../cache/feed.ts";
import { ResourceCache } from "../cache/resource-cache.ts";
import { Resource, storePrefixOf } from "./resource.ts";

interface Followed {
  readonly cache: ResourceCache;
  readonly leave: () => void;
}

/** An entry of the table, whose resource may be made on first use. */
class Place {
  readonly group: string;
  readonly version: string;
  readonly #make: () => Resource;
  #resource: Resource | undefined;

  constructor({ group, version }: Pick<Kind, "group" | "version">, make: () => Resource) {
    this.group = group;
    this.version = version;
    this.#make = make;
  }

  get resource(): Resource {
    this.#resource ??= this.#make();
    return this.#resource;
  }
}

export class Resources {
  /** By plural name: few groups have a resource of the same name. */
  readonly #places = new Map<string, Place[]>();
  readonly #groups = new Set<string>();
  readonly #followed = new Map<string, Followed>();
  readonly #feed: StoreFeed;

  constructor(feed: StoreFeed) {
    this.#feed = feed;
  }

  /** Serves a built-in kind. To be called before the feed loads. */
  add(kind: Kind): Resource {
    this.#groups.add(kind.group);
    const resource = new Resource(kind, this.follow(storePrefixOf(kind)));
    this.#put(kind.names.plural, new Place(kind, () => resource));
    return resource;
  }

  /**
   * Serves a kind; `make` runs on first use. Replaces what was served under the same path. The returned function
   * removes it again.
   */
  serve(kind: Pick<Kind, "group" | "version" | "names">, make: () => Resource): () => void {
    const { plural } = kind.names;
    const place = new Place(kind, make);
    this.#put(plural, place);
    return () => this.#remove(plural, (other) => other === place);
  }

  /** The cache of a prefix. To be called before the feed loads. */
  follow(prefix: string): ResourceCache {
    const known = this.#followed.get(prefix);
    if (known !== undefined) return known.cache;
    const cache = new ResourceCache(prefix, this.#feed.reportUnreadable);
    this.#followed.set(prefix, { cache, leave: this.#feed.subscribe(cache) });
    return cache;
  }

  /** As `follow`, while the feed runs; not twice at the same time for one prefix. Throws what the store throws. */
  async join(prefix: string): Promise<ResourceCache> {
    const known = this.#followed.get(prefix);
    if (known !== undefined) return known.cache;
    const cache = new ResourceCache(prefix, this.#feed.reportUnreadable);
    this.#followed.set(prefix, { cache, leave: await this.#feed.join(cache) });
    return cache;
  }

  /** Drops the cache of a prefix that is no longer served, and ends its watches. */
  unfollow(prefix: string): void {
    const followed = this.#followed.get(prefix);
    this.#followed.delete(prefix);
    followed?.leave();
    followed?.cache.endWatches();
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    const places = this.#places.get(plural);
    if (places === undefined) return undefined;
    for (const place of places) if (place.version === version && place.group === group) return place.resource;
    return undefined;
  }

  /** Whether any version of the group is built in. */
  servesGroup(group: string): boolean {
    return this.#groups.has(group);
  }

  *all(): Iterable<Resource> {
    for (const places of this.#places.values()) for (const place of places) yield place.resource;
  }

  #put(plural: string, place: Place): void {
    this.#remove(plural, ({ group, version }) => group === place.group && version === place.version);
    this.#places.set(plural, [...(this.#places.get(plural) ?? []), place]);
  }

  #remove(plural: string, isIt: (place: Place) => boolean): void {
    const rest = this.#places.get(plural)?.filter((place) => !isIt(place)) ?? [];
    if (rest.length > 0) this.#places.set(plural, rest);
    else this.#places.delete(plural);
  }
}
