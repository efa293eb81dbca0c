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
  readonly #make: () => Resource;
  #resource: Resource | undefined;

  constructor(make: () => Resource) {
    this.#make = make;
  }

  get resource(): Resource {
    this.#resource ??= this.#make();
    return this.#resource;
  }
}

export class Resources {
  readonly #byPath = new Map<string, Place>();
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
    this.#byPath.set(pathOf(kind.group, kind.version, kind.names.plural), new Place(() => resource));
    return resource;
  }

  /**
   * Serves a kind; `make` runs on first use. Replaces what was served under the same path. The returned function
   * removes it again.
   */
  serve({ group, version, names }: Pick<Kind, "group" | "version" | "names">, make: () => Resource): () => void {
    const path = pathOf(group, version, names.plural);
    const place = new Place(make);
    this.#byPath.set(path, place);
    return () => {
      if (this.#byPath.get(path) === place) this.#byPath.delete(path);
    };
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
    return this.#byPath.get(pathOf(group, version, plural))?.resource;
  }

  /** Whether any version of the group is built in. */
  servesGroup(group: string): boolean {
    return this.#groups.has(group);
  }

  *all(): Iterable<Resource> {
    for (const place of this.#byPath.values()) yield place.resource;
  }
}

function pathOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}
