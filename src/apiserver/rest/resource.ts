/** A served resource: its kind, the place of its objects in the store, and their cache. */
import { apiVersionOf, decode, type GroupResource, internalError, type Json, type Kind, type KubeObject } from "#api";
import type { KeyRange, Maybe } from "#base";
import type { ResourceCache } from "../cache/resource-cache.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { type Forms, ownForm } from "./forms.ts";

export const STORE_PREFIX = "/registry/";

export class Resource {
  readonly kind: Kind;
  readonly cache: ResourceCache;
  readonly forms: Forms | undefined;
  readonly groupResource: GroupResource;
  /** Objects that were read before: they do not change. */
  readonly #checked = new WeakSet<StoredObject>();

  constructor(kind: Kind, cache: ResourceCache, forms?: Forms) {
    this.kind = kind;
    this.cache = cache;
    this.forms = forms;
    this.groupResource = { group: kind.group, resource: kind.names.plural };
  }

  /** The key of an object in the cache. With the cache's prefix before it, its key in the store. */
  suffix(namespace: string, name: string): string {
    return this.kind.scope === "Namespaced" ? `${namespace}/${name}` : name;
  }

  /** The object under a key, in this kind's own form. It is a promise only if the object has to be converted. */
  get(suffix: string): Maybe<StoredObject | undefined> {
    const stored = this.cache.get(suffix);
    return stored === undefined || this.forms === undefined ? stored : ownForm(this.forms, stored);
  }

  /** The object in this kind's own form. */
  read(stored: StoredObject): KubeObject {
    return this.kind.storedAs === undefined ? stored.object : this.kind.storedAs.fromStored(stored.object);
  }

  /**
   * The objects that can be read, for the server's own use. One that cannot is reported and left out, so that it stops
   * nothing else.
   */
  *readable(range: KeyRange<string> = {}): Generator<StoredObject> {
    for (const stored of this.cache.snapshot().values(range)) if (this.canRead(stored)) yield stored;
  }

  canRead(stored: StoredObject): boolean {
    if (this.#checked.has(stored)) return true;
    if (!this.cache.tryWith(stored, () => this.#check(stored.object))) return false;
    this.#checked.add(stored);
    return true;
  }

  /** Throws if a stored object is not of this kind: of a version that is not served, or with fields of other types. */
  #check(object: KubeObject): void {
    // Custom resources are converted, and kinds that are kept as another one are checked as that one.
    if (this.forms !== undefined || this.kind.storedAs !== undefined) return;
    if (object.apiVersion !== apiVersionOf(this.kind))
      throw internalError(`no kind "${this.kind.kind}" is registered for version "${object.apiVersion}"`);
    decode(this.kind.schema, object as unknown as Json);
  }

  /** The object in the form in which it is stored. */
  toStored(object: KubeObject): KubeObject {
    return this.kind.storedAs === undefined ? object : this.kind.storedAs.toStored(object);
  }
}

/** Resources of one stored form share a prefix and a cache. */
export function storePrefixOf(kind: Kind, plural = kind.names.plural): string {
  const group = kind.storedAs?.group ?? kind.group;
  return `${STORE_PREFIX}${group === "" ? "core" : group}/${plural}/`;
}
