/**
 * The managedFields of an object as its scale subresource shows them, and back: only the ownership of the replicas
 * field, which has another path in Scale.
 */
import { difference, type FieldSet, fieldSet, hasPath, isEmpty } from "./field-set.ts";
import { entriesOf, isSameOwner, type ManagedFields, type Owner, ownersOf } from "./owners.ts";
import { type ElementPath, fieldPath } from "./path-element.ts";

const scaleVersion = "autoscaling/v1";
const replicasInScale = fieldSet(fieldPath("spec.replicas"));

/** The path of the replicas for each apiVersion of the object. Owners with other apiVersions are dropped. */
export type ReplicasPaths = ReadonlyMap<string, ElementPath>;

/** The entries of the Scale. */
export function scaleManagedFields(parent: ManagedFields | undefined, paths: ReplicasPaths): ManagedFields {
  const owners = ownersOf(parent).filter(({ fields, apiVersion }) => {
    const path = paths.get(apiVersion);
    return path !== undefined && hasPath(fields, path);
  });
  return entriesOf(
    owners.map((owner) => ({ ...owner, apiVersion: scaleVersion, fields: replicasInScale, entry: undefined })),
    undefined,
  );
}

/** The entries of the object after a write to its scale. */
export function parentManagedFields(
  parent: ManagedFields | undefined,
  scale: ManagedFields,
  paths: ReplicasPaths,
  apiVersion: string,
): ManagedFields {
  const scalers = ownersOf(scale).filter(({ fields }) => !isEmpty(fields));
  const kept: Owner[] = [];
  const newScalers = new Set(scalers);
  for (const owner of ownersOf(parent)) {
    const path = paths.get(owner.apiVersion);
    if (path === undefined) continue;
    const replicas = fieldSet(path);
    const scaler = scalers.find((each) => isSameOwner(inParent(each, owner.apiVersion), owner));
    if (scaler !== undefined || !hasPath(owner.fields, path)) kept.push(owner);
    else kept.push({ ...owner, fields: difference(owner.fields, replicas), entry: undefined });
    if (scaler !== undefined) newScalers.delete(scaler);
  }
  const path = paths.get(apiVersion);
  const replicas: FieldSet | undefined = path === undefined ? undefined : fieldSet(path);
  const added =
    replicas === undefined ? [] : [...newScalers].map((each) => ({ ...inParent(each, apiVersion), fields: replicas }));
  return entriesOf([...kept, ...added], parent);
}

function inParent(scaler: Owner, apiVersion: string): Owner {
  return { ...scaler, apiVersion, entry: undefined };
}
