/**
 * Copies a value without the fields that its schema does not have.
 *
 * 1. `x-kubernetes-preserve-unknown-fields` keeps unknown fields of a node and of the items below it; declared fields
 *    are pruned by their own schema again.
 * 2. Without a schema (a value under `additionalProperties: true`) objects lose all fields, scalars stay.
 * 3. Null is dropped where the schema does not allow it and has no default.
 * 4. Paths are written only for pruned fields.
 */
import { isObject, type Json, type JsonObject } from "../../machinery/json/json.ts";
import { type OpenObject, setKey } from "../../machinery/json/own-key.ts";
import { type Memo, memoized } from "../../machinery/schema/memo.ts";
import { decodeMeta } from "./metadata.ts";
import type { Structural } from "./structural.ts";

export interface Pruned {
  /** Paths of pruned fields. */
  readonly unknown: string[];
  /** Paths of pruned fields in the metadata of embedded objects. */
  readonly embedded: string[];
  /** Metadata that cannot be decoded is dropped. */
  readonly lenient: boolean;
  /** Nulls that the schema does not allow stay. */
  readonly keepsNull?: boolean;
}

/** Undefined: the value is dropped. */
export type Prune = (value: Json, pruned: Pruned) => Json | undefined;

export interface PruningOptions {
  /** Whether this is a whole object: its metadata is then left out, and decoded separately. */
  readonly root: boolean;
  /** Unknown fields stay everywhere. */
  readonly keepsAll?: boolean;
  /** Shared when many parts of one schema are compiled. */
  readonly memo?: Memo<Structural, Prune> | undefined;
}

export function compilePruning(schema: Structural, { root, keepsAll = false, memo }: PruningOptions): Prune {
  const keeps = schema.preserveUnknown || keepsAll;
  const compile = () => compileNode(schema, { keeps, keepsAll, isRoot: root, memo });
  return root ? compile() : memoized(memo, schema, compile);
}

interface Place {
  readonly keeps: boolean;
  readonly keepsAll: boolean;
  readonly isRoot?: boolean;
  readonly memo: Memo<Structural, Prune> | undefined;
}

interface Field {
  readonly prune: Prune;
  readonly dropsNull: boolean;
}

function compileNode(schema: Structural, { keeps, keepsAll, isRoot = false, memo }: Place): Prune {
  const { additional, items, properties } = schema;
  const inner = (node: Structural): Field => ({
    prune: compilePruning(node, { root: false, keepsAll, memo }),
    dropsNull: !node.nullable && node.default === undefined,
  });
  const fields = new Map([...properties].map(([name, property]) => [name, inner(property)]));
  const meta = isRoot ? rootMeta : schema.embedded ? embeddedMeta : [];
  for (const [name, field] of meta) fields.set(name, field);
  const rest = restOf(additional, inner, keeps, keepsAll);
  const item =
    items === undefined
      ? keeps
        ? copyJson
        : pruneAll
      : compileNode(items, { keeps: keeps || items.preserveUnknown, keepsAll, memo });
  return (value, pruned) => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return pruneItems(value, item, pruned);
    const object = value as JsonObject;
    const copy: OpenObject = {};
    for (const key in object) {
      const part = object[key] as Json;
      const field = fields.get(key) ?? rest;
      if (field === undefined) pruned.unknown.push(key);
      else if (part !== null || !field.dropsNull || pruned.keepsNull) {
        const kept = typeof part === "object" ? within(field.prune, part, key, pruned) : field.prune(part, pruned);
        if (kept !== undefined) setKey(copy, key, kept);
      }
    }
    return copy;
  };
}

function restOf(
  additional: Structural["additional"],
  inner: (node: Structural) => Field,
  keeps: boolean,
  keepsAll: boolean,
): Field | undefined {
  if (typeof additional === "object") return inner(additional);
  if (additional !== undefined) return { prune: keepsAll ? copyJson : pruneAll, dropsNull: false };
  return keeps ? { prune: copyJson, dropsNull: false } : undefined;
}

const typeMeta: Field = {
  prune: (value, { lenient }) => (lenient && typeof value !== "string" ? undefined : value),
  dropsNull: false,
};
const rootMeta: readonly (readonly [string, Field])[] = [
  ["apiVersion", typeMeta],
  ["kind", typeMeta],
  ["metadata", { prune: () => ({}), dropsNull: false }],
];
const embeddedMeta: readonly (readonly [string, Field])[] = [
  ["apiVersion", typeMeta],
  ["kind", typeMeta],
  ["metadata", { prune: pruneMeta, dropsNull: false }],
];

function pruneMeta(metadata: Json, { embedded, lenient }: Pruned): Json {
  const { value, unknown } = decodeMeta(metadata, lenient);
  embedded.push(...unknown);
  const { creationTimestamp, ...rest } = value as JsonObject;
  return creationTimestamp ? { creationTimestamp, ...rest } : rest;
}

function pruneItems(list: readonly Json[], item: Prune, pruned: Pruned): Json {
  const copy: Json[] = [];
  for (let i = 0; i < list.length; i++) {
    const part = list[i] as Json;
    copy.push(typeof part === "object" && part !== null ? (within(item, part, `[${i}]`, pruned) ?? null) : part);
  }
  return copy;
}

function pruneAll(value: Json, pruned: Pruned): Json {
  if (Array.isArray(value)) return pruneItems(value, pruneAll, pruned);
  if (!isObject(value)) return value;
  for (const key in value) pruned.unknown.push(key);
  return {};
}

/** Runs a step further down and prefixes the paths found there. */
function within(prune: Prune, value: Json, step: string, pruned: Pruned): Json | undefined {
  const { unknown, embedded } = pruned;
  const [known, knownEmbedded] = [unknown.length, embedded.length];
  const kept = prune(value, pruned);
  if (unknown.length > known) prefix(unknown, known, step);
  if (embedded.length > knownEmbedded) prefix(embedded, knownEmbedded, step);
  return kept;
}

function prefix(paths: string[], from: number, step: string): void {
  for (let i = from; i < paths.length; i++) {
    const inner = paths[i] as string;
    paths[i] = inner.startsWith("[") ? `${step}${inner}` : `${step}.${inner}`;
  }
}

export function copyJson(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyJson);
  if (!isObject(value)) return value;
  const copy: OpenObject = {};
  for (const key in value) setKey(copy, key, copyJson(value[key] as Json));
  return copy;
}
