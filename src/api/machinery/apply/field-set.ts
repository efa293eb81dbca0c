/**
 * Sets of field paths, as tries: the fields that a manager owns, or that a write changed.
 *
 * 1. A set is immutable. Operations share what they do not change, and return an argument itself when the result equals
 *    it, so that the cost of a small change to a big set follows the change.
 * 2. Owning a field implies nothing about its parent or its children: each is a member of its own.
 * 3. No node is empty, except the root of the empty set. The root is not a member: nobody owns the whole object.
 */
import { compareElements, type ElementPath, type PathElement, sortElements } from "./path-element.ts";

export interface FieldSet {
  /** The path that leads here is in the set. */
  readonly member: boolean;
  readonly children: ReadonlyMap<PathElement, FieldSet>;
}

const noChildren: ReadonlyMap<PathElement, FieldSet> = new Map();
export const emptySet: FieldSet = Object.freeze({ member: false, children: noChildren });
/** A path that is in the set and has nothing below it. */
export const leaf: FieldSet = Object.freeze({ member: true, children: noChildren });

export function fieldSet(...paths: readonly ElementPath[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.insert(path);
  return builder.build();
}

/** Collects paths, in any order. */
export class FieldSetBuilder {
  readonly #walk = new WalkedSetBuilder();

  /** An empty path is ignored. */
  insert(path: ElementPath): void {
    this.graft(path, leaf);
  }

  /** Adds all of `set`, below `path`. */
  graft(path: ElementPath, set: FieldSet): void {
    this.#walk.leave(0);
    this.#walk.graft(path, set);
  }

  build(): FieldSet {
    return this.#walk.build();
  }
}

/**
 * Collects the paths of a walk, which tells when it leaves one. What it has not left is not searched again: a step
 * costs the same at every depth.
 */
export class WalkedSetBuilder {
  #root: Draft | undefined;
  /** The nodes of the path that was last added to, from the root to where the walk left it. */
  readonly #open: Draft[] = [];

  /** An empty path is ignored. */
  graft(path: ElementPath, set: FieldSet): void {
    if (path.length === 0) return;
    this.#root ??= new Draft(emptySet);
    if (this.#open.length === 0) this.#open.push(this.#root);
    let node = this.#open[Math.min(this.#open.length, path.length) - 1] as Draft;
    for (let i = this.#open.length - 1; i < path.length - 1; i++) {
      node = open(node, path[i] as PathElement);
      this.#open.push(node);
    }
    const last = path[path.length - 1] as PathElement;
    const before = node.children.get(last);
    node.children.set(last, before === undefined ? set : union(before, set));
  }

  /** What follows has only the first `length` elements of the path before. */
  leave(length: number): void {
    if (this.#open.length > length + 1) this.#open.length = length + 1;
  }

  build(): FieldSet {
    return this.#root ?? emptySet;
  }
}

/** A node that the builder created itself, and may change; grafted nodes stay untouched. */
class Draft implements FieldSet {
  readonly member: boolean;
  readonly children: Map<PathElement, FieldSet>;

  constructor({ member, children }: FieldSet) {
    this.member = member;
    this.children = new Map(children);
  }
}

function open(node: Draft, element: PathElement): Draft {
  const child = node.children.get(element);
  if (child instanceof Draft) return child;
  const draft = new Draft(child ?? emptySet);
  node.children.set(element, draft);
  return draft;
}

export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

export function hasPath(set: FieldSet, path: ElementPath): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node.children.get(element);
    if (node === undefined) return false;
  }
  return node.member;
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.member !== b.member || a.children.size !== b.children.size) return false;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined || !equalSets(child, other)) return false;
  }
  return true;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  let children: Map<PathElement, FieldSet> | undefined;
  for (const [element, other] of b.children) {
    const child = a.children.get(element);
    const both = child === undefined ? other : union(child, other);
    if (both === child) continue;
    children ??= new Map(a.children);
    children.set(element, both);
  }
  const member = a.member || b.member;
  return children === undefined && member === a.member ? a : { member, children: children ?? a.children };
}

/** By pairs: the union of many small sets copies each path a few times, not once for each set. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  let rest = sets;
  while (rest.length > 1) {
    const pairs: FieldSet[] = [];
    for (let i = 0; i < rest.length; i += 2) pairs.push(union(rest[i] ?? emptySet, rest[i + 1] ?? emptySet));
    rest = pairs;
  }
  return rest[0] ?? emptySet;
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (a.children.size > b.children.size) return intersection(b, a);
  const children = new Map<PathElement, FieldSet>();
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined) continue;
    const both = intersection(child, other);
    if (!isEmpty(both)) children.set(element, both);
  }
  return { member: a.member && b.member, children };
}

/** Without the paths of `b`; paths below them stay. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return emptySet;
  return subtract(a, b, false);
}

/** Without the paths of `b` and all paths below them. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, true);
}

function subtract(a: FieldSet, b: FieldSet, recursive: boolean): FieldSet {
  let children: Map<PathElement, FieldSet> | undefined;
  const fewer = a.children.size < b.children.size ? a : b;
  for (const element of fewer.children.keys()) {
    const child = a.children.get(element);
    const other = b.children.get(element);
    if (child === undefined || other === undefined) continue;
    const rest = recursive && other.member ? emptySet : subtract(child, other, recursive);
    if (rest === child) continue;
    children ??= new Map(a.children);
    if (isEmpty(rest)) children.delete(element);
    else children.set(element, rest);
  }
  const member = a.member && !b.member;
  return children === undefined && member === a.member ? a : { member, children: children ?? a.children };
}

/** Only the paths that have nothing below them. */
export function leaves(set: FieldSet): FieldSet {
  if (set.children.size === 0) return set;
  const children = new Map<PathElement, FieldSet>();
  for (const [element, child] of set.children) children.set(element, leaves(child));
  return { member: false, children };
}

/** In Kubernetes' order: the members at one level first, then the paths below each. */
export function* pathsOf(set: FieldSet, prefix: ElementPath = []): Generator<ElementPath> {
  const elements = sortedElements(set);
  for (const element of elements) if (set.children.get(element)?.member) yield [...prefix, element];
  for (const element of elements) {
    const child = set.children.get(element);
    if (child !== undefined && child.children.size > 0) yield* pathsOf(child, [...prefix, element]);
  }
}

/** How many paths there are. */
export function memberCount(set: FieldSet): number {
  let count = set.member ? 1 : 0;
  for (const child of set.children.values()) count += memberCount(child);
  return count;
}

export function sortedElements(set: FieldSet): readonly PathElement[] {
  const elements = [...set.children.keys()];
  for (let i = 1; i < elements.length; i++) {
    if (compareElements(elements[i - 1] as string, elements[i] as string) > 0) return sortElements(elements);
  }
  return elements;
}

/** Selects a part of a set. */
export interface FieldFilter {
  (set: FieldSet): FieldSet;
  /** If the filter is an exclusion: the excluded paths. */
  readonly excluded?: FieldSet;
}

/** Excludes these paths and everything below them. */
export function excludeFields(paths: FieldSet): FieldFilter {
  return Object.assign((set: FieldSet) => recursiveDifference(set, paths), { excluded: paths });
}

/** Includes only what matches a pattern, and everything below it. `*` matches any element. */
export function includeFields(...patterns: readonly ElementPath[]): FieldFilter {
  return (set) => included(set, patterns);
}

function included(set: FieldSet, patterns: readonly ElementPath[]): FieldSet {
  if (patterns.some((pattern) => pattern.length === 0)) return set;
  const children = new Map<PathElement, FieldSet>();
  for (const [element, child] of set.children) {
    const matching = patterns.filter(([first]) => first === "*" || first === element);
    if (matching.length === 0) continue;
    const rest = included(
      child,
      matching.map((pattern) => pattern.slice(1)),
    );
    if (!isEmpty(rest)) children.set(element, rest);
  }
  return { member: set.member, children };
}
