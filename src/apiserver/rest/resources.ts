/**
 * All resources that are served, found by group, version and plural name.
 *
 * 1. They come and go while requests are served; a request goes on with the resource that it found.
 * 2. Resources whose objects are stored under one prefix share its cache.
 */
import type { Kind } from "#api";
import type { StoreFeed } from "../cache/feed.ts";
import { ResourceCache } from "../cache/resource-cache.ts";
import { Resource, storePrefixOf } from "./resource.ts";

interface Followed {
  readonly cache: ResourceCache;
  readonly leave: () => void;
}

/** Where a resource is served. It may be made when it is first asked for. */
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
  /** What has been found, by plural, group and version, until something changes: every request looks, and a path has to be put together. */
  readonly #found = new Map<string, Map<string, Map<string, Place>>>();
  readonly #groups = new Set<string>();
  readonly #followed = new Map<string, Followed>();
  readonly #feed: StoreFeed;

  constructor(feed: StoreFeed) {
    this.#feed = feed;
  }

  /** A kind that is part of the server. Before the feed loads. */
  add(kind: Kind): Resource {
    this.#groups.add(kind.group);
    const resource = new Resource(kind, this.follow(storePrefixOf(kind)));
    this.#byPath.set(pathOf(kind.group, kind.version, kind.names.plural), new Place(() => resource));
    this.#found.clear();
    return resource;
  }

  /** Serves a kind, or serves it anew: it is made when it is first asked for. The function takes it away, unless another has taken its place. */
  serve({ group, version, names }: Pick<Kind, "group" | "version" | "names">, make: () => Resource): () => void {
    const path = pathOf(group, version, names.plural);
    const place = new Place(make);
    this.#byPath.set(path, place);
    this.#found.clear();
    return () => {
      if (this.#byPath.get(path) !== place) return;
      this.#byPath.delete(path);
      this.#found.clear();
    };
  }

  /** Keeps what is stored under a prefix. Before the feed loads. */
  follow(prefix: string): ResourceCache {
    const known = this.#followed.get(prefix);
    if (known !== undefined) return known.cache;
    const cache = new ResourceCache(prefix, this.#feed.reportUnreadable);
    this.#followed.set(prefix, { cache, leave: this.#feed.subscribe(cache) });
    return cache;
  }

  /** As `follow`, while the feed runs. For one prefix at a time. Throws what the store throws. */
  async join(prefix: string): Promise<ResourceCache> {
    const known = this.#followed.get(prefix);
    if (known !== undefined) return known.cache;
    const cache = new ResourceCache(prefix, this.#feed.reportUnreadable);
    this.#followed.set(prefix, { cache, leave: await this.#feed.join(cache) });
    return cache;
  }

  /** Nothing that is stored under the prefix is served any more. */
  unfollow(prefix: string): void {
    const followed = this.#followed.get(prefix);
    this.#followed.delete(prefix);
    followed?.leave();
    followed?.cache.endWatches();
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return (this.#found.get(plural)?.get(group)?.get(version) ?? this.#look(group, version, plural))?.resource;
  }

  #look(group: string, version: string, plural: string): Place | undefined {
    const place = this.#byPath.get(pathOf(group, version, plural));
    if (place === undefined) return undefined;
    const ofPlural = this.#found.get(plural) ?? new Map<string, Map<string, Place>>();
    const ofGroup = ofPlural.get(group) ?? new Map<string, Place>();
    this.#found.set(plural, ofPlural.set(group, ofGroup.set(version, place)));
    return place;
  }

  /** Whether any version of the group is part of the server. */
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
