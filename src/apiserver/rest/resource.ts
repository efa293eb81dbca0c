/** A resource as it is served: its kind, where its objects are kept, and the cache of them. */

import type { GroupResource, Kind, KubeObject } from "#api";
import type { Maybe } from "#base";
import type { ResourceCache } from "../cache/resource-cache.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { type Forms, ownForm } from "./forms.ts";

export const STORE_PREFIX = "/registry/";

export class Resource {
  readonly kind: Kind;
  readonly cache: ResourceCache;
  readonly forms: Forms | undefined;
  readonly groupResource: GroupResource;

  constructor(kind: Kind, cache: ResourceCache, forms?: Forms) {
    this.kind = kind;
    this.cache = cache;
    this.forms = forms;
    this.groupResource = { group: kind.group, resource: kind.names.plural };
  }

  /** Where an object stands in its cache; behind the cache's prefix, its key in the store. */
  suffix(namespace: string, name: string): string {
    return this.kind.scope === "Namespaced" ? `${namespace}/${name}` : name;
  }

  /** What is kept there, in this kind's own form: at once, unless it is kept in another one. */
  get(suffix: string): Maybe<StoredObject | undefined> {
    const stored = this.cache.get(suffix);
    return stored === undefined || this.forms === undefined ? stored : ownForm(this.forms, stored);
  }

  /** The object in this kind's own form. */
  read(stored: StoredObject): KubeObject {
    return this.kind.storedAs === undefined ? stored.object : this.kind.storedAs.fromStored(stored.object);
  }

  /** The object in the form in which it is kept. */
  toStored(object: KubeObject): KubeObject {
    return this.kind.storedAs === undefined ? object : this.kind.storedAs.toStored(object);
  }
}

/** Resources of one stored form share a prefix and a cache. */
export function storePrefixOf(kind: Kind, plural = kind.names.plural): string {
  const group = kind.storedAs?.group ?? kind.group;
  return `${STORE_PREFIX}${group === "" ? "core" : group}/${plural}/`;
}
