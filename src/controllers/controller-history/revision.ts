/**
 * A ControllerRevision: a former template, with a number and a name derived from it.
 *
 * 1. Its data is a strategic merge patch that restores the whole template, with its keys in order: clients compare the
 *    bytes.
 * 2. Two revisions are equal if their templates are, whatever their names and numbers.
 */
import {
  addInt64,
  type apps,
  compareInt64,
  type core,
  equalJson,
  goJson,
  type Int64,
  isObject,
  type Json,
  type JsonObject,
} from "#api";
import { fnv32, safeName } from "../template-hash/index.ts";

export type Revision = apps.ControllerRevision;
export type Template = core.PodTemplateSpec;

const MAX_PREFIX = 223;

export function revisionData(template: Template | undefined): JsonObject {
  const data: JsonObject = { spec: { template: { ...(template as unknown as JsonObject), $patch: "replace" } } };
  return sorted(data) as JsonObject;
}

/** The template of a revision; undefined if it has none. */
export function templateOf({ data }: Revision): Template | undefined {
  const spec = isObject(data ?? null) ? (data as JsonObject).spec : undefined;
  const template = isObject(spec ?? null) ? (spec as JsonObject).template : undefined;
  if (!isObject(template ?? null)) return undefined;
  const { $patch, ...kept } = template as JsonObject;
  return kept as unknown as Template;
}

export function keeps(revision: Revision, template: Template | undefined): boolean {
  return equalJson((revision.data ?? null) as Json, revisionData(template));
}

/** Hash of the serialized data and of the collision count. */
export function revisionHash(data: JsonObject, collisions: number): string {
  return safeName(fnv32(goJson(sorted(data)), String(collisions)));
}

export function revisionName(owner: string, hash: string): string {
  return `${owner.slice(0, MAX_PREFIX)}-${hash}`;
}

/** Oldest first. */
export function inOrder(revisions: readonly Revision[]): readonly Revision[] {
  return [...revisions].sort(
    (a, b) =>
      compareInt64(a.revision, b.revision) ||
      compare(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") ||
      compare(a.metadata.name ?? "", b.metadata.name ?? ""),
  );
}

/** The number of the next revision. */
export function nextNumber(revisions: readonly Revision[]): Int64 {
  const last = revisions.reduce<Int64>((most, { revision }) => (revision > most ? revision : most), 0);
  return addInt64(last, 1);
}

/** The oldest unused revisions beyond the history limit. */
export function tooMany(
  revisions: readonly Revision[],
  limit: number,
  lives: (revision: Revision) => boolean,
): readonly Revision[] {
  const past = inOrder(revisions).filter((revision) => !lives(revision));
  return past.slice(0, Math.max(0, past.length - limit));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => compare(a, b))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
