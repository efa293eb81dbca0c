/**
 * Removes from a merged object the fields that its applier no longer applies.
 *
 * 1. A path is removed if the applier owned it, no longer applies it, and has no other owner.
 * 2. A structure is removed with the last owned field in it.
 * 3. Fields are compared in the version of their owner: first everything that the applier owned is removed, then what
 *    is owned in each version is restored, and what the applier never owned is restored, too.
 */
import type { JsonObject } from "../json/json.ts";
import type { ObjectSchema } from "../schema/schema.ts";
import { compare } from "./compare.ts";
import { difference, type FieldSet, intersection, isEmpty, unionOf } from "./field-set.ts";
import type { Owner } from "./owners.ts";
import { removeItems, withStructures } from "./select-items.ts";
import type { Convert, Versioned } from "./update.ts";

export interface PruneRequest {
  readonly merged: JsonObject;
  readonly schema: ObjectSchema;
  readonly apiVersion: string;
  readonly convert: Convert | undefined;
  /** The fields that the applier owned before. */
  readonly last: Owner | undefined;
  /** The fields that it applies now. */
  readonly applied: FieldSet;
  /** All owners, the applier with the fields that it applies now. */
  readonly owners: readonly Owner[];
}

export function prune({ merged, schema, apiVersion, convert, last, applied, owners }: PruneRequest): JsonObject {
  if (last === undefined || isEmpty(last.fields)) return merged;
  if (last.apiVersion === apiVersion && isEmpty(difference(last.fields, applied))) return merged;
  const inVersion = (from: AtVersion, version: string): AtVersion | undefined => {
    if (from.version === version || convert === undefined) return from;
    const converted = convert(from.object, version);
    return converted === undefined ? undefined : { ...converted, version };
  };

  const start = inVersion({ object: merged, schema, version: apiVersion }, last.apiVersion);
  if (start === undefined) return merged;
  const owned = withStructures(start.schema, last.fields);
  let whole = start;
  let pruned = without(start, owned);
  for (const [version, managed] of fieldsByVersion(owners, start.version)) {
    const nextWhole = inVersion(whole, version);
    const nextPruned = inVersion(pruned, version);
    if (nextWhole === undefined || nextPruned === undefined) continue;
    whole = nextWhole;
    pruned = without(whole, difference(lost(whole, nextPruned), withStructures(whole.schema, managed)));
  }
  const final = inVersion(pruned, start.version);
  if (final === undefined) return merged;
  return inVersion(without(start, intersection(lost(start, final), owned)), apiVersion)?.object ?? merged;
}

interface AtVersion extends Versioned {
  readonly version: string;
}

function without(from: AtVersion, paths: FieldSet): AtVersion {
  return { ...from, object: removeItems(from.schema, from.object, paths) as JsonObject };
}

/** The paths that pruning removed. */
function lost({ object, schema }: AtVersion, pruned: AtVersion): FieldSet {
  return compare(schema, object, pruned.object).removed;
}

/** The version in which pruning began comes first: its fields may be needed for the conversion to the others. */
function fieldsByVersion(owners: readonly Owner[], first: string): ReadonlyMap<string, FieldSet> {
  const versions = new Map<string, FieldSet[]>([[first, []]]);
  for (const { apiVersion, fields } of owners) {
    const sets = versions.get(apiVersion);
    if (sets === undefined) versions.set(apiVersion, [fields]);
    else sets.push(fields);
  }
  return new Map([...versions].map(([version, sets]) => [version, unionOf(sets)]));
}
