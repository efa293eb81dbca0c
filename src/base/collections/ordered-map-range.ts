/** Iterates over a part of an OrderedMap, a leaf at a time, in either direction. */

import { childAt, countBelow, countThrough, type Node, type OrderedKey } from "./ordered-map-node.ts";

/** The part of a map to look at; without any bound, all of it. `after` wins over `from`, `before` over `through`. */
export interface KeyRange<K> {
  /** The smallest key. */
  readonly from?: K;
  /** The key after which the range begins. */
  readonly after?: K;
  /** The largest key. */
  readonly through?: K;
  /** The key before which the range ends. */
  readonly before?: K;
  /** Largest keys first. */
  readonly reverse?: boolean;
}

/** How many of the sorted keys lie before the range, and how many before its end. */
export function startIn<K extends OrderedKey>(keys: readonly K[], range: KeyRange<K>): number {
  if (range.after !== undefined) return countThrough(keys, range.after);
  return range.from === undefined ? 0 : countBelow(keys, range.from);
}

export function endIn<K extends OrderedKey>(keys: readonly K[], range: KeyRange<K>): number {
  if (range.before !== undefined) return countBelow(keys, range.before);
  return range.through === undefined ? keys.length : countThrough(keys, range.through);
}

/** What an iteration needs of its map. `version` changes with every write. */
export interface Iterated<K extends OrderedKey, V> {
  readonly root: Node<K, V>;
  readonly version: number;
}

export class RangeIterator<K extends OrderedKey, V, T> extends Iterator<T, undefined, unknown> {
  readonly #map: Iterated<K, V>;
  readonly #pick: (key: K, value: V) => T;
  readonly #step: 1 | -1;
  /** What is left; its near end moves to the last key given when the next leaf is looked for. */
  #range: KeyRange<K>;
  #version = -1;
  #keys: readonly K[] = [];
  #values: readonly V[] = [];
  #index = 0;
  #end = 0;
  #last: K | undefined;

  constructor(map: Iterated<K, V>, range: KeyRange<K>, pick: (key: K, value: V) => T) {
    super();
    this.#map = map;
    this.#range = range;
    this.#pick = pick;
    this.#step = range.reverse === true ? -1 : 1;
  }

  override next(): IteratorResult<T, undefined> {
    if ((this.#index === this.#end || this.#version !== this.#map.version) && !this.#nextLeaf()) {
      return { done: true, value: undefined };
    }
    const index = this.#index;
    this.#index = index + this.#step;
    const key = this.#keys[index] as K;
    this.#last = key;
    return { done: false, value: this.#pick(key, this.#values[index] as V) };
  }

  #nextLeaf(): boolean {
    const last = this.#last;
    const forward = this.#step === 1;
    if (last !== undefined) this.#range = forward ? { ...this.#range, after: last } : { ...this.#range, before: last };
    const leaf = forward ? firstLeaf(this.#map.root, this.#range) : lastLeaf(this.#map.root, this.#range);
    const start = leaf === undefined ? 0 : startIn(leaf.keys, this.#range);
    const end = leaf === undefined ? 0 : endIn(leaf.keys, this.#range);
    this.#version = this.#map.version;
    this.#keys = leaf?.keys ?? [];
    this.#values = leaf?.values ?? [];
    this.#index = forward ? start : end - 1;
    this.#end = forward ? end : start - 1;
    if (start < end) return true;
    this.#index = this.#end;
    return false;
  }
}

/** The first leaf with a key that is not before the range. */
function firstLeaf<K extends OrderedKey, V>(root: Node<K, V>, range: KeyRange<K>): Node<K, V> | undefined {
  let node = root;
  let right: Node<K, V> | undefined;
  while (node.children !== undefined) {
    const bound = range.after ?? range.from;
    const index = bound === undefined ? 0 : countThrough(node.keys, bound);
    if (index + 1 < node.children.length) right = childAt(node.children, index + 1);
    node = childAt(node.children, index);
  }
  if (startIn(node.keys, range) < node.keys.length) return node;
  while (right?.children !== undefined) right = childAt(right.children, 0);
  return right;
}

/** The last leaf with a key that is not after the range. */
function lastLeaf<K extends OrderedKey, V>(root: Node<K, V>, range: KeyRange<K>): Node<K, V> | undefined {
  let node = root;
  let left: Node<K, V> | undefined;
  while (node.children !== undefined) {
    const bound = range.before ?? range.through;
    const index = bound === undefined ? node.keys.length : countThrough(node.keys, bound);
    if (index > 0) left = childAt(node.children, index - 1);
    node = childAt(node.children, index);
  }
  if (endIn(node.keys, range) > 0) return node;
  while (left?.children !== undefined) left = childAt(left.children, left.children.length - 1);
  return left;
}
