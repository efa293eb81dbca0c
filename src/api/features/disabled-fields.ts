/**
 * Drops the fields of features that are off from objects that are written, as upstream's strategies do.
 *
 * 1. A gate whose fields the old object uses keeps all of them: nobody loses what was stored while the feature was on.
 * 2. The fields of a kind are compiled to one tree, which is walked beside the object: what an object does not have
 *    costs a look, and kinds without such fields cost nothing.
 * 3. A part that is the stored object's own (the spec, in a write of the status) is neither walked nor changed.
 */
import type { FeatureGates } from "../machinery/kind.ts";
import type { GatedField, PathStep } from "./gated-fields.ts";
import { gatedFields } from "./gated-fields.ts";

/** In place. `old` is absent on create. */
export type DropFields = (draft: object, old?: object) => void;

/** `key`: such as apps/v1/Deployment. Undefined: the kind has no fields to drop. */
export function disabledFields(gates: FeatureGates, key: string): DropFields | undefined {
  const off = (gatedFields.get(key) ?? []).filter(({ gate }) => !gates.enabled(gate));
  if (off.length === 0) return undefined;
  const root = treeOf(off);
  return (draft, old) => dropDisabled(root, draft as Part, old as Part | undefined);
}

type Part = Record<string, unknown>;

interface Tree {
  readonly fields: Map<string, Tree>;
  /** Of each item or value. */
  each?: Tree;
  readonly prunes: boolean;
  gate?: string;
  fallback?: string | undefined;
}

function treeOf(fields: readonly GatedField[]): Tree {
  const root: Tree = { fields: new Map(), prunes: false };
  for (const { gate, path, fallback } of fields) {
    const leaf = path.reduce(child, root);
    leaf.gate = gate;
    leaf.fallback = fallback;
  }
  return root;
}

function child(tree: Tree, { name, prunes }: PathStep): Tree {
  const isEach = name === "[]" || name === "{}";
  const found = isEach ? tree.each : tree.fields.get(name);
  if (found !== undefined) return found;
  const made: Tree = { fields: new Map(), prunes };
  if (isEach) tree.each = made;
  else tree.fields.set(name, made);
  return made;
}

function dropDisabled(root: Tree, draft: Part, old: Part | undefined): void {
  for (const [name, tree] of root.fields) {
    if (draft[name] === undefined || draft[name] === old?.[name]) continue;
    const unused = new Set<string>();
    collect(tree, draft[name], unused);
    if (unused.size === 0) continue;
    const used = new Set<string>();
    if (old !== undefined) collectAll(root, old, used);
    for (const gate of used) unused.delete(gate);
    if (unused.size > 0) remove(draft, name, tree, unused);
  }
}

/** The gates of fields that a value has. */
function collect(tree: Tree, value: unknown, found: Set<string>): void {
  if (value === undefined || value === null) return;
  if (tree.gate !== undefined && value !== tree.fallback) found.add(tree.gate);
  if (typeof value !== "object") return;
  if (tree.each !== undefined) {
    const items = Array.isArray(value) ? value : Object.values(value);
    for (const item of items) collect(tree.each, item, found);
  }
  if (tree.fields.size > 0) collectAll(tree, value as Part, found);
}

function collectAll(tree: Tree, value: Part, found: Set<string>): void {
  for (const [name, field] of tree.fields) collect(field, value[name], found);
}

function remove(parent: Part, name: string, tree: Tree, gates: ReadonlySet<string>): void {
  const value = parent[name];
  if (value === undefined || value === null) return;
  if (tree.gate !== undefined && gates.has(tree.gate)) {
    if (tree.fallback === undefined) delete parent[name];
    // A field that is written although it has no value.
    else parent[name] = tree.fallback === "null" ? null : tree.fallback;
    return;
  }
  if (typeof value !== "object") return;
  const wasEmpty = Object.keys(value).length === 0;
  removeWithin(value as Part, tree, gates);
  if (tree.prunes && !wasEmpty && Object.keys(value).length === 0) delete parent[name];
}

function removeWithin(value: Part, tree: Tree, gates: ReadonlySet<string>): void {
  for (const [name, field] of tree.fields) remove(value, name, field, gates);
  const { each } = tree;
  if (each === undefined) return;
  for (const item of Array.isArray(value) ? value : Object.values(value))
    if (typeof item === "object" && item !== null) removeWithin(item as Part, each, gates);
}
