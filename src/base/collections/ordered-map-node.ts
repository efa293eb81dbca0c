/**
 * The nodes of an OrderedMap's B+ tree, and what is done to them.
 *
 * 1. A leaf has keys and values; any other node has children and, between each two of them, the separator: all keys of
 *    the child to its right are equal or larger, all to its left smaller.
 * 2. A function with an `owner` changes only nodes that carry this token, and copies others first: see `owned`.
 * 3. Leaves are equally deep. Nodes that a deletion leaves narrow are joined with a neighbour when that leaves room.
 */

export type OrderedKey = string | number;

/** Identifies the one map that may change a node in place. */
export interface Owner {
  /** How many nodes have been copied for it. */
  copies: number;
}

/** One class for both kinds of node: property access stays fast. */
export class Node<K extends OrderedKey, V> {
  readonly owner: Owner;
  /** A leaf's keys, or the separators between children. */
  readonly keys: K[];
  readonly values: V[];
  /** undefined: this is a leaf. */
  readonly children: Node<K, V>[] | undefined;
  /** How many keys the leaves below hold. */
  size: number;

  constructor(owner: Owner, keys: K[], values: V[], children: Node<K, V>[] | undefined, size: number) {
    this.owner = owner;
    this.keys = keys;
    this.values = values;
    this.children = children;
    this.size = size;
  }
}

const MAX_WIDTH = 64;
/** Joined nodes keep some room, so that a border case does not join and split in turns. */
const JOIN_WIDTH = 48;

export interface Split<K extends OrderedKey, V> {
  readonly separator: K;
  readonly right: Node<K, V>;
}

export function leafOf<K extends OrderedKey, V>(owner: Owner, keys: K[], values: V[]): Node<K, V> {
  return new Node(owner, keys, values, undefined, keys.length);
}

export function innerOf<K extends OrderedKey, V>(owner: Owner, keys: K[], children: Node<K, V>[]): Node<K, V> {
  let size = 0;
  for (const child of children) size += child.size;
  return new Node(owner, keys, [], children, size);
}

/** The node itself if the owner may change it, else a copy that it may change. */
export function owned<K extends OrderedKey, V>(node: Node<K, V>, owner: Owner): Node<K, V> {
  if (node.owner === owner) return node;
  owner.copies++;
  return new Node(owner, node.keys.slice(), node.values.slice(), node.children?.slice(), node.size);
}

/**
 * How many of the sorted keys are smaller. Strings and numbers have their own loops, so that each is monomorphic: 0.6
 * of the time of one loop for both (`bench/base.ts`, 2026-11-18). Property tests compare the map with a sorted array.
 */
export function countBelow<K extends OrderedKey>(keys: readonly K[], key: K): number {
  return typeof key === "string"
    ? stringsBelow(keys as readonly OrderedKey[] as readonly string[], key)
    : numbersBelow(keys as readonly OrderedKey[] as readonly number[], key);
}

/** How many of the sorted keys are smaller or equal. */
export function countThrough<K extends OrderedKey>(keys: readonly K[], key: K): number {
  return typeof key === "string"
    ? stringsThrough(keys as readonly OrderedKey[] as readonly string[], key)
    : numbersThrough(keys as readonly OrderedKey[] as readonly number[], key);
}

function stringsBelow(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function stringsThrough(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (key < (keys[middle] as string)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function numbersBelow(keys: readonly number[], key: number): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as number) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function numbersThrough(keys: readonly number[], key: number): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (key < (keys[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function childAt<K extends OrderedKey, V>(children: readonly Node<K, V>[], index: number): Node<K, V> {
  const child = children[index];
  if (child === undefined) throw new Error(`A node has ${children.length} children and was asked for number ${index}.`);
  return child;
}

/** Sets a key below a node that the owner may change; if the node becomes too wide, its right part is split off. */
export function insert<K extends OrderedKey, V>(
  node: Node<K, V>,
  key: K,
  value: V,
  owner: Owner,
): Split<K, V> | undefined {
  const { keys, values, children } = node;
  if (children === undefined) {
    const index = countBelow(keys, key);
    if (index < keys.length && keys[index] === key) {
      values[index] = value;
      return undefined;
    }
    insertAt(keys, index, key);
    insertAt(values, index, value);
    node.size++;
    return keys.length > MAX_WIDTH ? splitLeaf(node, index, owner) : undefined;
  }
  const index = countThrough(keys, key);
  const child = owned(childAt(children, index), owner);
  children[index] = child;
  const before = child.size;
  const split = insert(child, key, value, owner);
  node.size += child.size - before;
  if (split === undefined) return undefined;
  node.size += split.right.size;
  insertAt(keys, index, split.separator);
  insertAt(children, index + 1, split.right);
  return children.length > MAX_WIDTH ? splitInner(node, index, owner) : undefined;
}

/** Removes a key that is there. */
export function remove<K extends OrderedKey, V>(node: Node<K, V>, key: K, owner: Owner): void {
  const { keys, values, children } = node;
  node.size--;
  if (children === undefined) {
    const index = countBelow(keys, key);
    keys.splice(index, 1);
    values.splice(index, 1);
    return;
  }
  const index = countThrough(keys, key);
  const child = owned(childAt(children, index), owner);
  children[index] = child;
  remove(child, key, owner);
  if (index > 0 && join(node, index - 1, owner)) return;
  join(node, index, owner);
}

/** Removes all keys below `key`; whole subtrees at once. The node must hold a key that stays. */
export function trimBelow<K extends OrderedKey, V>(node: Node<K, V>, key: K, owner: Owner): void {
  const { keys, values, children } = node;
  if (children === undefined) {
    const gone = countBelow(keys, key);
    keys.splice(0, gone);
    values.splice(0, gone);
    node.size = keys.length;
    return;
  }
  let gone = countThrough(keys, key);
  if (largestKey(childAt(children, gone)) < key) gone++;
  keys.splice(0, gone);
  for (const child of children.splice(0, gone)) node.size -= child.size;
  const child = owned(childAt(children, 0), owner);
  children[0] = child;
  const before = child.size;
  trimBelow(child, key, owner);
  node.size += child.size - before;
  join(node, 0, owner);
}

function largestKey<K extends OrderedKey, V>(node: Node<K, V>): K {
  let leaf = node;
  while (leaf.children !== undefined) leaf = childAt(leaf.children, leaf.children.length - 1);
  return leaf.keys[leaf.keys.length - 1] as K;
}

/** Joins the children at `left` and `left + 1` if both fit into one node with room to spare. */
function join<K extends OrderedKey, V>(node: Node<K, V>, left: number, owner: Owner): boolean {
  const { keys, children } = node;
  if (children === undefined || left + 1 >= children.length) return false;
  const right = childAt(children, left + 1);
  const old = childAt(children, left);
  if (width(old) + width(right) > JOIN_WIDTH) return false;
  const joined = owned(old, owner);
  if (joined.children !== undefined && right.children !== undefined) {
    joined.keys.push(keys[left] as K, ...right.keys);
    joined.children.push(...right.children);
  } else {
    joined.keys.push(...right.keys);
    joined.values.push(...right.values);
  }
  joined.size += right.size;
  children[left] = joined;
  children.splice(left + 1, 1);
  keys.splice(left, 1);
  return true;
}

function width<K extends OrderedKey, V>(node: Node<K, V>): number {
  return node.children === undefined ? node.keys.length : node.children.length;
}

/** Keys that only ever grow, like revisions, leave full nodes behind; otherwise a node is split in its middle. */
function splitLeaf<K extends OrderedKey, V>(node: Node<K, V>, inserted: number, owner: Owner): Split<K, V> {
  const at = inserted === node.keys.length - 1 ? inserted : node.keys.length >>> 1;
  const right = leafOf(owner, node.keys.splice(at), node.values.splice(at));
  node.size -= right.size;
  return { separator: right.keys[0] as K, right };
}

function splitInner<K extends OrderedKey, V>(node: Node<K, V>, inserted: number, owner: Owner): Split<K, V> {
  const children = node.children ?? [];
  const at = inserted === node.keys.length - 1 ? children.length - 2 : children.length >>> 1;
  const right = innerOf(owner, node.keys.splice(at), children.splice(at));
  const separator = node.keys.pop() as K;
  node.size -= right.size;
  return { separator, right };
}

/** splice(index, 0, item), without the array that splice returns. */
function insertAt<T>(array: T[], index: number, item: T): void {
  for (let i = array.length; i > index; i--) array[i] = array[i - 1] as T;
  array[index] = item;
}
