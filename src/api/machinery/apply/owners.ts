/**
 * The owners of an object's fields: metadata.managedFields, parsed and written.
 *
 * 1. An owner is identified by manager, operation and subresource; for Update also by apiVersion.
 * 2. Unchanged owners are written back as the entries that they were parsed from; if all are unchanged, so is the list.
 * 3. The list is sorted: Apply before Update, then by time, manager, apiVersion and subresource.
 */

import { equalJson } from "../json/equal.ts";
import { goJson } from "../json/go-text.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { parseTime } from "../scalars/time.ts";
import type { ManagedFieldsEntry } from "../schema/object.ts";
import { type FieldSet, isEmpty, unionOf } from "./field-set.ts";
import { decodeFields, encodeFields, parseFields } from "./fields-v1.ts";
import { compareText } from "./path-element.ts";

export type Operation = "Apply" | "Update";

export interface Owner {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly subresource: string;
  /** When it last changed something. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** The entry that it was parsed from; undefined since it changed. */
  readonly entry: ManagedFieldsEntry | undefined;
}

export type ManagedFields = readonly ManagedFieldsEntry[];

export function managedFieldsOf(object: JsonObject | undefined): ManagedFields | undefined {
  const metadata = object?.metadata;
  const entries = metadata !== undefined && isObject(metadata) ? metadata.managedFields : undefined;
  return Array.isArray(entries) ? (entries as ManagedFields) : undefined;
}

export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = object.metadata;
  if (metadata === undefined || !isObject(metadata) || !("managedFields" in metadata)) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** For stored objects. */
export function ownersOf(entries: ManagedFields | undefined): readonly Owner[] {
  return entries === undefined
    ? []
    : distinct(entries.map((entry) => owner(entry, decodeFields(entry.fieldsV1), entry)));
}

/** For objects from clients. Throws for malformed entries, in the words of Kubernetes. */
export function parseOwners(entries: ManagedFields): readonly Owner[] {
  return distinct(
    entries.map((entry, i) => {
      if (entry.operation !== "Apply" && entry.operation !== "Update")
        throw new Error("operation must be `Apply` or `Update`");
      if (!entry.apiVersion) throw new Error("apiVersion must not be empty");
      if (!entry.fieldsType) throw new Error(`missing fieldsType in managed fields entry ${i}`);
      if (entry.fieldsType !== "FieldsV1") {
        throw new Error(`invalid fieldsType ${goJson(entry.fieldsType)} in managed fields entry ${i}`);
      }
      return owner(entry, parsed(entry), undefined);
    }),
  );
}

function parsed(entry: ManagedFieldsEntry): FieldSet {
  try {
    return parseFields(entry.fieldsV1 ?? {});
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`error decoding versioned set from ${identifier(entry)}: error decoding set: ${why}`, {
      cause: error,
    });
  }
}

function owner(entry: ManagedFieldsEntry, fields: FieldSet, stored: ManagedFieldsEntry | undefined): Owner {
  const { manager = "", operation, apiVersion = "", subresource = "", time } = entry;
  return {
    manager,
    operation: operation === "Apply" ? "Apply" : "Update",
    apiVersion,
    subresource,
    time,
    fields,
    entry: stored,
  };
}

/** Of several entries for one owner, the last counts. */
function distinct(owners: readonly Owner[]): readonly Owner[] {
  if (owners.length <= maxUpdaters)
    return owners.filter((one, i) => !owners.some((other, k) => k > i && isSameOwner(one, other)));
  const last = new Map(owners.map((owner) => [identifier(owner), owner]));
  return owners.filter((owner) => last.get(identifier(owner)) === owner);
}

export type OwnerIdentity = Pick<Owner, "manager" | "operation" | "apiVersion" | "subresource">;

export function isSameOwner(a: OwnerIdentity, b: OwnerIdentity): boolean {
  if (a.manager !== b.manager || a.operation !== b.operation || a.subresource !== b.subresource) return false;
  return a.operation === "Apply" || a.apiVersion === b.apiVersion;
}

/** The text by which Kubernetes identifies owners, and sorts them in messages. */
export function identifier({
  manager,
  operation,
  apiVersion,
  subresource,
}: Partial<OwnerIdentity> | ManagedFieldsEntry): string {
  return goJson({
    ...(manager ? { manager } : {}),
    ...(operation ? { operation } : {}),
    ...(apiVersion && operation !== "Apply" ? { apiVersion } : {}),
    ...(subresource ? { subresource } : {}),
  });
}

/** A client resets the owners by sending no entries, or a single empty one. */
export function isReset(entries: ManagedFields | undefined): boolean {
  if (entries === undefined) return false;
  return (
    entries.length === 0 || (entries.length === 1 && Object.values(entries[0] ?? {}).every((value) => value === null))
  );
}

/** The entries of these owners; `stored` itself if it says the same. */
export function entriesOf(owners: readonly Owner[], stored: ManagedFields | undefined): ManagedFields {
  const sorted = owners.filter(({ fields }) => !isEmpty(fields)).sort(compareOwners);
  const entries = sorted.map((each) => each.entry ?? entryOf(each, encodeFields(each.fields)));
  const isStored =
    stored !== undefined && stored.length === entries.length && entries.every((entry, i) => entry === stored[i]);
  return isStored ? stored : entries;
}

export function entryOf(
  { manager, operation, apiVersion, subresource, time }: OwnerIdentity & Pick<Owner, "time">,
  fieldsV1: JsonObject,
): ManagedFieldsEntry {
  const entry: { -readonly [Field in keyof ManagedFieldsEntry]: ManagedFieldsEntry[Field] } = {};
  if (manager !== "") entry.manager = manager;
  entry.operation = operation;
  entry.apiVersion = apiVersion;
  if (time !== undefined) entry.time = time;
  entry.fieldsType = "FieldsV1";
  entry.fieldsV1 = fieldsV1;
  if (subresource !== "") entry.subresource = subresource;
  return entry;
}

function compareOwners(a: Owner, b: Owner): number {
  return (
    compareText(a.operation, b.operation) ||
    compareTimes(a.time, b.time) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

export function compareTimes(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a?.length === canonicalLength && b?.length === canonicalLength) return compareText(a, b);
  return seconds(a) - seconds(b);
}

/** 2006-01-02T15:04:05Z: such times sort as texts. */
const canonicalLength = 20;

function seconds(time: string | undefined): number {
  return time === undefined ? 0 : parseTime(time).seconds;
}

const maxUpdaters = 10;

/** At most ten owners by Update: beyond that the oldest ones of one apiVersion are merged into `ancient-changes`. */
export function capUpdaters(owners: readonly Owner[]): readonly Owner[] {
  const updaters = owners.filter(({ operation }) => operation === "Update");
  let excess = updaters.length - maxUpdaters;
  if (excess <= 0) return owners;
  const sorted = updaters
    .map((owner) => ({ owner, id: identifier(owner) }))
    .sort((a, b) => compareTimes(a.owner.time, b.owner.time) || compareText(a.id, b.id));
  const ancient = new Map<string, Owner>();
  for (const owner of owners) if (isAncient(owner)) ancient.set(owner.apiVersion, owner);
  const gone = new Set<Owner>();
  const merges = new Map<string, { readonly time: string | undefined; readonly parts: FieldSet[] }>();
  const firstOf = new Map<string, Owner>();
  for (const { owner } of sorted) {
    if (excess <= 0) break;
    const { apiVersion, time } = owner;
    const first = firstOf.get(apiVersion);
    if (first === undefined) {
      firstOf.set(apiVersion, owner);
      continue;
    }
    const bucket = ancient.get(apiVersion) ?? first;
    const parts = merges.get(apiVersion)?.parts ?? [bucket.fields];
    parts.push(owner.fields);
    merges.set(apiVersion, { time, parts });
    gone.add(bucket).add(owner);
    excess--;
  }
  const merged = [...merges].map(([apiVersion, { time, parts }]) => {
    const identity = { manager: ancientManager, operation: "Update", apiVersion, subresource: "" } as const;
    return { ...identity, time, fields: unionOf(parts), entry: undefined };
  });
  return [...owners.filter((owner) => !gone.has(owner)), ...merged];
}

const ancientManager = "ancient-changes";

function isAncient({ manager, operation, subresource }: Owner): boolean {
  return manager === ancientManager && operation === "Update" && subresource === "";
}

/**
 * The entries of an object that is about to be stored: if only times differ from the stored object, the stored entries,
 * so that nothing is written.
 */
export function settleTimes(live: JsonObject, next: JsonObject): ManagedFields {
  const [before, after] = [managedFieldsOf(live) ?? [], managedFieldsOf(next) ?? []];
  if (before === after || before.length !== after.length) return after;
  const isSameButTime = after.every((entry, i) => equalJson(timeless(entry), timeless(before[i] ?? {})));
  return isSameButTime && equalJson(withoutManagedFields(live), withoutManagedFields(next)) ? before : after;
}

function timeless({ time: _, ...entry }: ManagedFieldsEntry): Json {
  return entry as JsonObject;
}
