/** The part of an object that admission looks at for every kind: what it is called, and whose it is. */
import type { KubeObject } from "#api";

export function headOf({ kind, apiVersion, metadata }: KubeObject): KubeObject {
  const { name, generateName, namespace, uid, resourceVersion, ownerReferences } = metadata;
  return {
    kind,
    apiVersion,
    metadata: { name, generateName, namespace, uid, resourceVersion, ownerReferences },
  } as KubeObject;
}
