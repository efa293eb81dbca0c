/**
 * Further versions of a kind: they share its storage and its rules.
 *
 * 1. Rules are written once, for the stored version. Kubernetes too validates one form of an object for all versions:
 *    the paths in its errors are those of that form.
 */
import { apiVersionOf, type Kind, type StoredForm } from "../machinery/kind.ts";
import type { Draft, KubeObject } from "../machinery/schema/object.ts";
import { defineKind, type KindRules } from "./define-kind.ts";

/** Both ways; neither loses anything that the other version can hold. */
export interface Conversion<V extends KubeObject, T extends KubeObject> {
  toStored(object: V): T;
  fromStored(stored: T): V;
}

const RULES = [
  "metaChecks",
  "validateName",
  "defaults",
  "create",
  "update",
  "delete",
  "validate",
  "canonicalize",
  "subresources",
  "generation",
  "metadataAlone",
  "columns",
  "rowConditions",
  "selectableFields",
  "fieldAliases",
  "resetFields",
  "warnings",
] as const satisfies readonly (keyof KindRules<KubeObject>)[];

/** A version with the same structure. */
export function sameVersion<T extends KubeObject>(apiVersion: string, stored: Kind<T>): Kind<T> {
  const storedAs = storedForm<T, T>(stored, {
    toStored: (object) => object,
    fromStored: (object) => ({ ...object, apiVersion }),
  });
  // One by one: reading the schema would parse its table.
  const rules = Object.fromEntries(RULES.flatMap((name) => (stored[name] === undefined ? [] : [[name, stored[name]]])));
  return defineKind<T>(apiVersion, stored.kind, { ...(rules as KindRules<T>), storedAs });
}

export function storedForm<V extends KubeObject, T extends KubeObject>(
  { group, version, kind }: Kind<T>,
  { toStored, fromStored }: Conversion<V, T>,
): StoredForm<V> {
  const apiVersion = apiVersionOf({ group, version });
  return {
    group,
    version,
    kind,
    toStored: (object) => ({ ...toStored(object), apiVersion }),
    fromStored: (object) => fromStored(object as T),
  };
}

/** Lets a rule of the stored version change a draft of another one. */
export function changeStored<V extends KubeObject, T extends KubeObject>(
  draft: Draft<V>,
  { toStored, fromStored }: Conversion<V, T>,
  change: (stored: Draft<T>) => void,
): void {
  const form = structuredClone(toStored(draft as unknown as V)) as Draft<T>;
  change(form);
  const fields = draft as unknown as Record<string, unknown>;
  for (const name of Object.keys(fields)) delete fields[name];
  Object.assign(fields, fromStored(form as unknown as T));
}
