/** All resources that are served, found by group, version and plural name. */
import type { Kind } from "#api";
import type { StoreFeed } from "../cache/feed.ts";
import { ResourceCache } from "../cache/resource-cache.ts";
import { Resource, storePrefixOf } from "./resource.ts";

export class Resources {
  readonly #byPath = new Map<string, Resource>();
  readonly #groups = new Set<string>();
  readonly #caches = new Map<string, ResourceCache>();
  readonly #feed: StoreFeed;

  constructor(feed: StoreFeed) {
    this.#feed = feed;
  }

  add(kind: Kind): Resource {
    const resource = new Resource(kind, this.#cacheOf(storePrefixOf(kind)));
    this.#byPath.set(pathOf(kind.group, kind.version, kind.names.plural), resource);
    this.#groups.add(kind.group);
    return resource;
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#byPath.get(pathOf(group, version, plural));
  }

  /** Whether any version of the group is served. */
  servesGroup(group: string): boolean {
    return this.#groups.has(group);
  }

  all(): Iterable<Resource> {
    return this.#byPath.values();
  }

  #cacheOf(prefix: string): ResourceCache {
    let cache = this.#caches.get(prefix);
    if (cache === undefined) {
      cache = new ResourceCache(prefix);
      this.#caches.set(prefix, cache);
      this.#feed.subscribe(cache);
    }
    return cache;
  }
}

function pathOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}
