/**
 * Server-side apply: an applier declares all fields that it wants; the server merges them, and removes those that it no
 * longer declares.
 *
 * 1. An applier owns exactly the fields that it applies. A field with the same value may have several owners; changing
 *    the value of a field that others own is a conflict, unless forced: then they lose it.
 * 2. A field that an applier stops applying is removed if it has no other owner.
 * 3. Applying the same configuration again changes nothing, not even a time.
 * 4. The first apply to an object without owners gives all existing fields to `before-first-apply`.
 */

import { StatusError } from "../errors/status.ts";
import { badRequest } from "../errors/status-errors.ts";
import { equalJson } from "../json/equal.ts";
import type { JsonObject } from "../json/json.ts";
import { onceForEach } from "../schema/memo.ts";
import { type Comparison, compare } from "./compare.ts";
import { type Conflict, conflictError, conflictsBeyond } from "./conflict.ts";
import { nonconformance, storedNonconformance } from "./conformance.ts";
import { emptySet, equalSets, type FieldSet, intersection, isEmpty, union } from "./field-set.ts";
import { clientSideFields, clientSideManager, withLastApplied } from "./last-applied.ts";
import { merge } from "./merge.ts";
import { ownedPaths } from "./owned-paths.ts";
import {
  entriesOf,
  isSameOwner,
  type ManagedFields,
  managedFieldsOf,
  type Owner,
  ownersOf,
  withoutManagedFields,
} from "./owners.ts";
import { prune } from "./prune.ts";
import { fitToSchema } from "./schema-changes.ts";
import { ShapeError } from "./shape.ts";
import {
  changesByVersion,
  ownersAfterChange,
  ownersAfterUpdate,
  type WriteContext,
  withoutUntracked,
} from "./update.ts";
import { zeroObject } from "./zero-value.ts";

export interface ApplyRequest extends WriteContext {
  /** The version that the endpoint serves; the configuration must have it. */
  readonly kind: string;
  /** Absent if the apply creates the object. */
  readonly live: JsonObject | undefined;
  readonly applied: JsonObject;
  /** Takes fields from other owners. */
  readonly force: boolean;
}

export interface Applied {
  /**
   * Without managedFields: the merge result, still to be decoded, defaulted, admitted and validated. It shares parts
   * with the live object.
   */
  readonly object: JsonObject;
  /** The live object's own list if nothing changed. */
  readonly managedFields: ManagedFields;
  /** False if neither the object nor any owner changed. */
  readonly changed: boolean;
}

/** Throws a StatusError: 409 for conflicts, 400 and 500 for a configuration that cannot be applied. */
export function applyConfiguration(request: ApplyRequest): Applied {
  checkConfiguration(request);
  const { live, applied, manager } = request;
  const stored = managedFieldsOf(live);
  const before = live === undefined ? undefined : withoutManagedFields(live);
  const outcome = before === undefined ? created(request) : changed(request, before, stored);
  const object = manager === clientSideManager ? withLastApplied(outcome.object, applied) : outcome.object;
  const managedFields = entriesOf(outcome.owners, stored);
  const sameOwners = managedFields === stored || (managedFields.length === 0 && stored === undefined);
  return { object, managedFields, changed: !sameOwners || !equalJson(before, object) };
}

function checkConfiguration({ applied, schema, apiVersion, kind }: ApplyRequest): void {
  const type = groupVersionKind(String(applied.apiVersion ?? ""), String(applied.kind ?? ""));
  if (type !== groupVersionKind(apiVersion, kind)) throw badRequest(`invalid object type: ${type}`);
  if (managedFieldsOf(applied) !== undefined) throw badRequest("metadata.managedFields must be nil");
  const fault = nonconformance(schema, applied);
  if (fault === undefined) return;
  throw new StatusError("", `failed to create typed patch object (${title(applied, type)}): ${fault}`);
}

function title({ metadata }: JsonObject, type: string): string {
  const { namespace = "", name = "" } = (metadata ?? {}) as { readonly namespace?: string; readonly name?: string };
  return `${namespace}/${name}; ${type}`;
}

function groupVersionKind(apiVersion: string, kind: string): string {
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

interface Outcome {
  readonly object: JsonObject;
  readonly owners: readonly Owner[];
}

function created(request: ApplyRequest): Outcome {
  const owner = applier(request, appliedFields(request), request.now);
  return { object: request.applied, owners: [tracked(owner)] };
}

function changed(request: ApplyRequest, before: JsonObject, stored: ManagedFields | undefined): Outcome {
  try {
    return mergedInto(request, before, trackedOwners(request, before, stored));
  } catch (error) {
    if (error instanceof ShapeError) throw misfit(request, before, stored);
    throw error;
  }
}

/** A stored object that does not fit its schema: its kind allows items of lists without their keys. */
function misfit(
  { schema, apiVersion, kind }: ApplyRequest,
  before: JsonObject,
  stored: ManagedFields | undefined,
): StatusError {
  const about = title(before, groupVersionKind(apiVersion, kind));
  const what =
    (stored ?? []).length === 0
      ? `failed to create manager for existing fields: failed to convert new object (${about}) to smd typed`
      : `failed to create typed live object (${about})`;
  return new StatusError("", `${what}: ${storedNonconformance(schema, before)}`);
}

function mergedInto(request: ApplyRequest, before: JsonObject, owners: readonly Owner[]): Outcome {
  const { applied, schema, apiVersion, convert, now } = request;
  const fields = appliedFields(request);
  const last = owners.find((owner) => isSameOwner(owner, applier(request, fields, now)));
  const next = applier(request, fields, last?.time);
  const others = owners.filter((owner) => owner !== last);

  const merged = merge(schema, before, applied) as JsonObject;
  const object = prune({ merged, schema, apiVersion, convert, last, applied: fields, owners: [...others, next] });
  const comparison = compare(schema, before, object);
  if (!request.force) refuseConflicts(request, others, comparison, before, object);
  const remaining = ownersAfterChange(request, others, comparison, before, object);
  if (!equalJson(before, object)) return { object, owners: [...remaining, tracked({ ...next, time: now })] };
  return { object: before, owners: [...remaining, unlessChanged(tracked(next), last)] };
}

function applier(
  { manager, apiVersion, subresource = "" }: ApplyRequest,
  fields: FieldSet,
  time: string | undefined,
): Owner {
  return { manager, operation: "Apply", apiVersion, subresource, time, fields, entry: undefined };
}

function appliedFields({ schema, applied, resetFields }: ApplyRequest): FieldSet {
  const fields = ownedPaths(schema, applied);
  return resetFields === undefined ? fields : resetFields(fields);
}

function tracked(owner: Owner): Owner {
  return { ...owner, fields: withoutUntracked(owner.fields) };
}

function unlessChanged(next: Owner, last: Owner | undefined): Owner {
  return last !== undefined && last.apiVersion === next.apiVersion && equalSets(last.fields, next.fields) ? last : next;
}

function trackedOwners(request: ApplyRequest, before: JsonObject, stored: ManagedFields | undefined): readonly Owner[] {
  const owners = ownersOf(stored);
  if (owners.length > 0) return owners.flatMap((owner) => fitted(request, owner, before));
  return ownersAfterUpdate({ ...request, manager: "before-first-apply" }, [], zeroObject(request.schema), before);
}

/** Undefined if the owner's version no longer exists. */
function fitted({ apiVersion, schema, convert }: ApplyRequest, owner: Owner, before: JsonObject): readonly Owner[] {
  const isOwn = convert === undefined || owner.apiVersion === apiVersion;
  const ownSchema = isOwn ? schema : convert(before, owner.apiVersion)?.schema;
  if (ownSchema === undefined) return [];
  const fields = fitToSchema(owner.fields, ownSchema);
  return [fields === owner.fields ? owner : { ...owner, fields, entry: undefined }];
}

function refuseConflicts(
  request: ApplyRequest,
  others: readonly Owner[],
  comparison: Comparison,
  before: JsonObject,
  object: JsonObject,
): void {
  const changes = changesByVersion(request, comparison, before, object);
  const gained = onceForEach(({ modified, added }: Comparison) => union(modified, added));
  const conflicts = others.flatMap((owner): readonly Conflict[] => {
    const change = changes(owner.apiVersion)?.comparison;
    if (change === undefined) return [];
    const fields = intersection(owner.fields, gained(change));
    return isEmpty(fields) ? [] : [{ owner, fields }];
  });
  if (conflicts.length === 0) return;
  const { manager, schema, apiVersion } = request;
  const allowed = manager === clientSideManager ? clientSideFields(before, schema, apiVersion) : emptySet;
  const refused = conflictsBeyond(conflicts, allowed);
  if (refused.length > 0) throw conflictError(refused);
}
