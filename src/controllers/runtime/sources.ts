/** Sources of keys: the object itself, its owner, or a function. */
import type { KubeObject } from "#api";
import { type Change, objectKey, type ResourceOf } from "#client";
import type { Source } from "./controller.ts";

/** Changes of the objects themselves. */
export function changesOf<T extends KubeObject>(
  resource: ResourceOf<T>,
  matters: (change: Change<T>) => boolean = () => true,
): Source {
  const source = keysFrom(resource, (change) => (matters(change) ? [objectKey(change.object)] : []));
  return { ...source, isItself: true };
}

/** Changes of objects with a controller of this kind: the keys of their old and new owners. */
export function ownersOf<T extends KubeObject>(resource: ResourceOf<T>, owner: OwnerKind): Source {
  return keysFrom(resource, ({ object, old }) => {
    const keys = [object, ...(old === undefined ? [] : [old])].map((each) => controllerKey(each, owner));
    return [...new Set(keys.filter((key) => key !== undefined))];
  });
}

export function keysFrom<T extends KubeObject>(
  resource: ResourceOf<T>,
  keys: (change: Change<T>) => readonly string[],
): Source {
  return { resource: resource as ResourceOf<KubeObject>, keys: keys as Source["keys"] };
}

export interface OwnerKind {
  /** Without a version: owners are matched by group and kind. */
  readonly group: string;
  readonly kind: string;
}

/** The key of the controller, if it is of this kind. */
export function controllerKey(object: KubeObject, { group, kind }: OwnerKind): string | undefined {
  const owner = controllerOf(object);
  if (owner === undefined || owner.kind !== kind || groupOf(owner.apiVersion) !== group) return undefined;
  const { namespace } = object.metadata;
  return namespace === undefined ? owner.name : `${namespace}/${owner.name}`;
}

export function controllerOf({ metadata }: KubeObject) {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash === -1 ? "" : apiVersion.slice(0, slash);
}

/** The owner reference of the controller. */
export function ownedBy(owner: KubeObject, { apiVersion, kind }: { apiVersion: string; kind: string }) {
  const { name = "", uid = "" } = owner.metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
