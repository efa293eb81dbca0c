/**
 * The differences between two states: added, removed and changed objects, and the changed fields. `k8ts diff` prints
 * them, the dashboard shows them.
 */
import { writeJson } from "../json/write-json.ts";

/** Resources that change all the time, or follow from other objects. */
export const NOISE: ReadonlySet<string> = new Set(["events", "leases", "ipaddresses"]);

/** An object of any kind. */
export interface Compared {
  readonly metadata: { readonly name?: string | undefined; readonly namespace?: string | undefined };
}

export interface FieldChange {
  /** `spec.template.spec.containers[web].image`. */
  readonly path: string;
  /** Undefined: it was added, or removed. */
  readonly from: unknown;
  readonly to: unknown;
}

export interface ObjectChange {
  /** `default/web`, or only the name. */
  readonly name: string;
  readonly change: "added" | "removed" | "changed";
  readonly fields: readonly FieldChange[];
}

/** They say nothing but that there was a write. */
const LEFT_OUT = new Set(["metadata.resourceVersion", "metadata.managedFields", "metadata.generation"]);
/** Fields that follow from others: what they were computed from is shown. */
const BOOKKEEPING =
  /(?:^|\.)observedGeneration$|^metadata\.annotations\.kubectl\.kubernetes\.io\/last-applied-configuration$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

export interface ChangeOptions {
  /** Also times that only moved on, and what follows from other fields. */
  readonly bookkeeping?: boolean;
}

export function objectChanges(
  before: readonly Compared[],
  after: readonly Compared[],
  { bookkeeping = false }: ChangeOptions = {},
): ObjectChange[] {
  const old = new Map(before.map((object) => [nameOf(object), object]));
  const now = new Map(after.map((object) => [nameOf(object), object]));
  const changes: ObjectChange[] = [];
  for (const name of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [from, to] = [old.get(name), now.get(name)];
    if (from === undefined) changes.push({ name, change: "added", fields: [] });
    else if (to === undefined) changes.push({ name, change: "removed", fields: [] });
    else {
      const fields = fieldChanges(from, to, "").filter((field) => bookkeeping || !isBookkeeping(field));
      if (fields.length > 0) changes.push({ name, change: "changed", fields });
    }
  }
  return changes;
}

/** A time that came or went is news; one that moved on is not. */
function isBookkeeping({ path, from, to }: FieldChange): boolean {
  const isTime = (value: unknown) => typeof value === "string" && TIME.test(value);
  return BOOKKEEPING.test(path) || (isTime(from) && isTime(to));
}

function fieldChanges(from: unknown, to: unknown, path: string): FieldChange[] {
  if (LEFT_OUT.has(path) || from === to) return [];
  const [old, now] = [partsOf(from ?? missing(path)), partsOf(to ?? missing(path))];
  if (old === undefined || now === undefined) return writeJson(from) === writeJson(to) ? [] : [{ path, from, to }];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) =>
    fieldChanges(old.get(key), now.get(key), key.startsWith("[") || path === "" ? path + key : `${path}.${key}`),
  );
}

/** The first annotation comes with their map: what it is decides whether it matters. */
function missing(path: string): unknown {
  return path === "metadata.annotations" || path === "metadata.labels" ? {} : undefined;
}

/** Its parts by name. Undefined: it is a scalar. */
function partsOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (Array.isArray(value)) return new Map(value.map((item: unknown, index) => [`[${keyOf(item) ?? index}]`, item]));
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}

/** List items with a name or a unique type are matched by it, not by position. */
function keyOf(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null) return undefined;
  const { name, type, uid } = item as Record<string, unknown>;
  return [name, type, uid].find((key): key is string => typeof key === "string");
}

function nameOf({ metadata: { namespace, name = "" } }: Compared): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
