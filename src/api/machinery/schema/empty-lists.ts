/**
 * Lists and maps that a client sent empty. The API leaves them out, as absent ones; Go tells the two apart in messages
 * and in a few rules until the object is stored.
 *
 * 1. The mark is not enumerable: no comparison, copy or encoding sees it.
 * 2. What is stored has no marks: it is read back without them.
 */
import { cloneJson, type Json } from "../json/json.ts";
import { type OpenObject, setKey } from "../json/own-key.ts";

const NAMES = Symbol("fields that were sent empty");
const MARKED = Symbol("structs with such fields");

interface Marks {
  [NAMES]?: Set<string>;
  [MARKED]?: readonly object[];
}

export function markEmpty(struct: object, name: string): void {
  const marks = struct as Marks;
  if (marks[NAMES] === undefined) Object.defineProperty(struct, NAMES, { value: new Set(), configurable: true });
  marks[NAMES]?.add(name);
}

/** A struct that takes the place of another one. */
export function moveMarks(from: object, to: object): void {
  for (const name of (from as Marks)[NAMES] ?? []) markEmpty(to, name);
}

/** `root` is the object that the structs are parts of. */
export function rememberMarked(root: object, structs: readonly object[]): void {
  Object.defineProperty(root, MARKED, { value: structs, configurable: true });
}

/** The marks of `from`, for a copy of it; not of fields that the copy has a value for, or none on purpose. */
export function keepMarks<T extends object>(copy: T, from: object): T {
  for (const name of (from as Marks)[NAMES] ?? []) if (!(name in copy)) markEmpty(copy, name);
  return copy;
}

export function forgetMarks(root: object): void {
  const marked = (root as Marks)[MARKED];
  if (marked === undefined) return;
  for (const struct of marked) delete (struct as Marks)[NAMES];
  delete (root as Marks)[MARKED];
}

export function wasSentEmpty(struct: object | undefined, name: string): boolean {
  return (struct as Marks | undefined)?.[NAMES]?.has(name) ?? false;
}

/** A deep copy, with the marks. */
export function cloneSent<T extends object>(root: T): T {
  if ((root as Marks)[MARKED] === undefined) return cloneJson(root);
  const marked: object[] = [];
  const copyOf = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(copyOf);
    const copy: OpenObject = {};
    for (const [key, part] of Object.entries(value)) setKey(copy, key, copyOf(part) as Json);
    if ((value as Marks)[NAMES] === undefined) return copy;
    moveMarks(value, copy);
    marked.push(copy);
    return copy;
  };
  const copy = copyOf(root) as T;
  rememberMarked(copy, marked);
  return copy;
}

/** The map as Go has it: null is absent. */
export function sentMap<T extends object, Name extends keyof T & string>(struct: T, name: Name): Json {
  return (struct[name] as Json | undefined) ?? (wasSentEmpty(struct, name) ? {} : null);
}

/** The list as Go has it: null is absent. */
export function sentList<T extends object, Name extends keyof T & string>(struct: T, name: Name): Json {
  return (struct[name] as Json | undefined) ?? (wasSentEmpty(struct, name) ? [] : null);
}
