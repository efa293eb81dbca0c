/**
 * Objects and watchers of a resource by the value of one field, such as the node of a Pod: of thousands of kubelets
 * that watch Pods, a write concerns one.
 */
import type { KubeObject } from "#api";
import type { StoredObject } from "./stored-object.ts";

export interface FieldValue {
  readonly field: string;
  readonly value: string;
  readonly valueOf: (object: KubeObject) => string;
}

export class FieldIndex<W> {
  readonly #valueOf: FieldValue["valueOf"];
  readonly #keys = new Map<string, Set<string>>();
  readonly #watchers = new Map<string, Set<W>>();

  constructor(read: FieldValue["valueOf"]) {
    this.#valueOf = read;
  }

  /** The keys of the objects with this value, in no particular order. */
  keys(value: string): Iterable<string> {
    return this.#keys.get(value) ?? [];
  }

  change(key: string, previous: StoredObject | undefined, current: StoredObject | undefined): void {
    const [before, after] = [this.#read(previous), this.#read(current)];
    if (before === after) return;
    if (before !== undefined) remove(this.#keys, before, key);
    if (after !== undefined) add(this.#keys, after, key);
  }

  /** Forgets the objects; the watchers stay. */
  clear(): void {
    this.#keys.clear();
  }

  /** The returned function ends the watch. */
  watch(value: string, watcher: W): () => void {
    add(this.#watchers, value, watcher);
    return () => remove(this.#watchers, value, watcher);
  }

  /** The watchers of the value that the object had, and of the value that it has. */
  *concerned(previous: StoredObject | undefined, current: StoredObject | undefined): Generator<W> {
    if (this.#watchers.size === 0) return;
    const [before, after] = [this.#read(previous), this.#read(current)];
    if (after !== undefined) yield* this.#watchers.get(after) ?? [];
    if (before !== undefined && before !== after) yield* this.#watchers.get(before) ?? [];
  }

  *all(): Generator<W> {
    for (const set of this.#watchers.values()) yield* set;
  }

  #read(stored: StoredObject | undefined): string | undefined {
    return stored === undefined || stored.isUnreadable ? undefined : this.#valueOf(stored.object);
  }
}

function add<T>(map: Map<string, Set<T>>, value: string, element: T): void {
  const set = map.get(value);
  if (set === undefined) map.set(value, new Set([element]));
  else set.add(element);
}

function remove<T>(map: Map<string, Set<T>>, value: string, element: T): void {
  const set = map.get(value);
  set?.delete(element);
  if (set?.size === 0) map.delete(value);
}
