/**
 * Ownership after a create, update or patch.
 *
 * 1. The writer owns the fields that the write added or modified; all others lose them. Removed fields have no owner.
 * 2. A write that changes nothing changes no owner and no time.
 * 3. An object whose owners were reset stays untracked until it is applied to.
 * 4. The cost follows the change: owners are read only as far as the change reaches.
 */

import { equalJson } from "../json/equal.ts";
import type { JsonObject } from "../json/json.ts";
import type { ObjectSchema } from "../schema/schema.ts";
import { type Comparison, compare, filterComparison, touched } from "./compare.ts";
import { createdFields, isPlain } from "./created-fields.ts";
import { difference, emptySet, type FieldFilter, type FieldSet, fieldSet, isEmpty, union } from "./field-set.ts";
import {
  capUpdaters,
  entriesOf,
  entryOf,
  isReset,
  isSameOwner,
  type ManagedFields,
  managedFieldsOf,
  type Owner,
  type OwnerIdentity,
  ownersOf,
  parseOwners,
  withoutManagedFields,
} from "./owners.ts";
import { fieldPath } from "./path-element.ts";
import { fitToSchema } from "./schema-changes.ts";
import { ShapeError } from "./shape.ts";
import { zeroObject } from "./zero-value.ts";

/**
 * Converts an object to another version: that of an owner, or back to that of the request. Undefined if the version no
 * longer exists. Objects may lack parts that validation requires.
 */
export type Convert = (object: JsonObject, apiVersion: string) => Versioned | undefined;

export interface Versioned {
  readonly object: JsonObject;
  readonly schema: ObjectSchema;
}

export interface WriteContext {
  /** Of the request, and of the objects given with it: `apps/v1`. */
  readonly apiVersion: string;
  readonly schema: ObjectSchema;
  /** The manager: see `managerName`. */
  readonly manager: string;
  /** "" or absent for the object itself. */
  readonly subresource?: string;
  /** RFC 3339 to the second. */
  readonly now: string;
  /** Excludes fields that a write through this endpoint cannot change, such as status: their owners stay. */
  readonly resetFields?: FieldFilter | undefined;
  /** By default all versions are taken to be alike. */
  readonly convert?: Convert;
}

export interface UpdateRequest extends WriteContext {
  /** Absent on create. */
  readonly live: JsonObject | undefined;
  /** Decoded and defaulted, before admission. */
  readonly updated: JsonObject;
}

/** The metadata.managedFields to store: absent if empty. The live object's own list if nothing changed. */
export function updateManagedFields(request: UpdateRequest): ManagedFields {
  const { live, updated, subresource = "", schema } = request;
  const stored = managedFieldsOf(live);
  const { owners, source } = trackedOwners(stored, managedFieldsOf(updated), subresource);
  if (owners.length === 0 && live !== undefined) return [];
  try {
    if (live === undefined && owners.length === 0) return ownedByCreator(request);
    const before = live === undefined ? zeroObject(schema) : withoutManagedFields(live);
    return entriesOf(capUpdaters(ownersAfterUpdate(request, owners, before, withoutManagedFields(updated))), source);
  } catch (error) {
    // As in Kubernetes, an object that does not fit its schema has no owners, unless validation refuses it.
    if (error instanceof ShapeError) return [];
    throw error;
  }
}

/**
 * Clients may edit the list itself, but not through a subresource. An unreadable or absent list means the stored one:
 * many clients do not send it.
 */
function trackedOwners(
  stored: ManagedFields | undefined,
  sent: ManagedFields | undefined,
  subresource: string,
): { readonly owners: readonly Owner[]; readonly source: ManagedFields | undefined } {
  const fromStore = { owners: ownersOf(stored), source: stored };
  if (subresource !== "" || sent === undefined || sent === stored) return fromStore;
  if (isReset(sent)) return { owners: [], source: undefined };
  if (equalJson(sent as unknown as JsonObject, stored as unknown as JsonObject)) return fromStore;
  try {
    const owners = parseOwners(sent);
    return owners.length === 0 ? fromStore : { owners, source: undefined };
  } catch {
    return fromStore;
  }
}

/** On create nothing is owned before. */
function ownedByCreator(request: UpdateRequest): ManagedFields {
  const { schema, updated, resetFields } = request;
  const excluded = resetFields === undefined ? emptySet : resetFields.excluded;
  if (excluded === undefined || !isPlain(excluded, schema)) {
    return entriesOf(ownersAfterUpdate(request, [], zeroObject(schema), withoutManagedFields(updated)), undefined);
  }
  const fields = createdFields(schema, withoutManagedFields(updated), { excluded, untracked });
  return fields === undefined ? [] : [entryOf({ ...writerOf(request), time: request.now }, fields)];
}

export function ownersAfterUpdate(
  context: WriteContext,
  owners: readonly Owner[],
  before: JsonObject,
  after: JsonObject,
): readonly Owner[] {
  const { schema, now, resetFields } = context;
  const comparison = compare(schema, before, after);
  const others = ownersAfterChange(context, owners, comparison, before, after);
  const gained = gainedFields(comparison, resetFields);
  if (isEmpty(gained)) return others;
  const writer = writerOf(context);
  const previous = others.find((owner) => isSameOwner(owner, writer));
  const fields = previous === undefined ? gained : union(previous.fields, gained);
  return [...others.filter((owner) => owner !== previous), { ...writer, time: now, fields, entry: undefined }];
}

function writerOf({ manager, apiVersion, subresource = "" }: WriteContext): OwnerIdentity {
  return { manager: manager || "unknown", operation: "Update", apiVersion, subresource };
}

function gainedFields({ added, modified }: Comparison, resetFields: FieldFilter | undefined): FieldSet {
  const gained = union(added, modified);
  return withoutUntracked(resetFields === undefined ? gained : resetFields(gained));
}

/** Fields that the server sets, or that identify the object, have no owner. */
const untracked: FieldSet = fieldSet(
  ...["apiVersion", "kind", "metadata"].map(fieldPath),
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((name) => fieldPath(`metadata.${name}`)),
);

export function withoutUntracked(set: FieldSet): FieldSet {
  return difference(set, untracked);
}

/** What all owners keep after a change by another manager. */
export function ownersAfterChange(
  context: WriteContext,
  owners: readonly Owner[],
  comparison: Comparison,
  before: JsonObject,
  after: JsonObject,
): readonly Owner[] {
  const changes = changesByVersion(context, comparison, before, after);
  const remaining: Owner[] = [];
  for (const owner of owners) {
    const change = changes(owner.apiVersion);
    if (change === undefined) continue;
    const kept = isEmpty(change.paths)
      ? owner.fields
      : difference(fitToSchema(owner.fields, change.schema, change.paths), change.paths);
    if (kept === owner.fields) remaining.push(owner);
    else if (!isEmpty(kept)) remaining.push({ ...owner, fields: kept, entry: undefined });
  }
  return remaining;
}

export interface VersionedChange {
  readonly schema: ObjectSchema;
  readonly comparison: Comparison;
  /** Added, modified or removed. */
  readonly paths: FieldSet;
}

/** The same change in the apiVersion of other owners; undefined for a version that no longer exists. */
export function changesByVersion(
  { apiVersion, schema, resetFields, convert }: WriteContext,
  comparison: Comparison,
  before: JsonObject,
  after: JsonObject,
): (version: string) => VersionedChange | undefined {
  const own = versionedChange(schema, comparison, resetFields);
  if (convert === undefined) return () => own;
  const known = new Map<string, VersionedChange | undefined>([[apiVersion, own]]);
  return (version) => {
    if (known.has(version)) return known.get(version);
    const [was, is] = [convert(before, version), convert(after, version)];
    const change =
      was === undefined || is === undefined
        ? undefined
        : versionedChange(is.schema, compare(is.schema, was.object, is.object), resetFields);
    known.set(version, change);
    return change;
  };
}

function versionedChange(
  schema: ObjectSchema,
  unfiltered: Comparison,
  resetFields: FieldFilter | undefined,
): VersionedChange {
  const comparison = filterComparison(unfiltered, resetFields);
  return { schema, comparison, paths: touched(comparison) };
}
