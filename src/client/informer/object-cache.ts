/**
 * The latest known objects of one resource, with indexes.
 *
 * 1. Objects are deeply frozen: to change one, copy it.
 * 2. An index holds exactly the objects of the cache, and is always up to date.
 * 3. `revision` is the resourceVersion up to which the cache is complete; `reached` waits for one.
 */
import type { KubeObject } from "#api";
import { abortable } from "#base";
import { frozen } from "../requests/frozen.ts";

export type Change<T> =
  | { readonly type: "added"; readonly object: T; readonly old?: undefined }
  | { readonly type: "updated"; readonly object: T; readonly old: T }
  /** `object` is its last known state. */
  | { readonly type: "deleted"; readonly object: T; readonly old: T };

/** Objects by a value that is computed from each. */
export type Index<T> = (value: string) => readonly T[];

/** The reading side of a cache. */
export interface ReadonlyCache<T extends KubeObject> {
  readonly size: number;
  readonly revision: number;
  get(key: string): T | undefined;
  list(): readonly T[];
  inNamespace: Index<T>;
  /** `valuesOf`: the values under which an object is found. The same name means the same index. */
  index(name: string, valuesOf: (object: T) => readonly string[]): Index<T>;
  /** Resolves when the cache is complete up to the revision. */
  reached(revision: number, signal: AbortSignal): Promise<void>;
}

/** `namespace/name`, or the name alone. */
export function objectKey({ metadata: { namespace, name = "" } }: KubeObject): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

export function revisionOf({ metadata: { resourceVersion } }: KubeObject): number {
  return Number(resourceVersion ?? 0);
}

interface StoredIndex<T> {
  readonly valuesOf: (object: T) => readonly string[];
  readonly found: Map<string, Map<string, T>>;
}

export class ObjectCache<T extends KubeObject> implements ReadonlyCache<T> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, StoredIndex<T>>();
  #waiting: { readonly revision: number; readonly resolve: () => void }[] = [];
  #revision = 0;
  readonly inNamespace: Index<T>;

  constructor() {
    this.inNamespace = this.index("namespace", ({ metadata }) => [metadata.namespace ?? ""]);
  }

  get size(): number {
    return this.#objects.size;
  }

  get revision(): number {
    return this.#revision;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): readonly T[] {
    return [...this.#objects.values()];
  }

  index(name: string, valuesOf: (object: T) => readonly string[]): Index<T> {
    let index = this.#indexes.get(name);
    if (index === undefined) {
      index = { valuesOf, found: new Map() };
      this.#indexes.set(name, index);
      for (const [key, object] of this.#objects) change(index, key, undefined, object);
    }
    const { found } = index;
    return (value) => [...(found.get(value)?.values() ?? [])];
  }

  async reached(revision: number, signal: AbortSignal): Promise<void> {
    if (this.#revision >= revision) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { revision, resolve };
    this.#waiting.push(waiting);
    try {
      await abortable(promise, signal);
    } finally {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
    }
  }

  /** Undefined if the cache has this resourceVersion already. */
  set(object: T): Change<T> | undefined {
    const key = objectKey(object);
    const old = this.#objects.get(key);
    if (old !== undefined && old.metadata.resourceVersion === object.metadata.resourceVersion) return undefined;
    frozen(object);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) change(index, key, old, object);
    return old === undefined ? { type: "added", object } : { type: "updated", object, old };
  }

  /** `last`: the object of the DELETED event. */
  delete(key: string, last?: T): Change<T> | undefined {
    const old = this.#objects.get(key);
    if (old === undefined) return undefined;
    this.#leave(key, old);
    this.#objects.delete(key);
    return { type: "deleted", object: last === undefined ? old : frozen(last), old };
  }

  keys(): Iterable<string> {
    return this.#objects.keys();
  }

  /** The cache is complete up to this revision. */
  advance(revision: number): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    for (const { revision: wanted, resolve } of this.#waiting) if (wanted <= revision) resolve();
  }

  #leave(key: string, object: T): void {
    for (const { valuesOf, found } of this.#indexes.values()) leave(found, key, valuesOf(object));
  }
}

/** Most changes leave an object under the same values. */
function change<T>({ valuesOf, found }: StoredIndex<T>, key: string, old: T | undefined, object: T): void {
  const values = valuesOf(object);
  const before = old === undefined ? [] : valuesOf(old);
  if (before.length !== values.length || before.some((value, at) => value !== values[at])) leave(found, key, before);
  for (const value of values) {
    const bucket = found.get(value);
    if (bucket === undefined) found.set(value, new Map([[key, object]]));
    else bucket.set(key, object);
  }
}

function leave<T>(found: StoredIndex<T>["found"], key: string, values: readonly string[]): void {
  for (const value of values) {
    const bucket = found.get(value);
    if (bucket?.delete(key) && bucket.size === 0) found.delete(value);
  }
}
