/** The objects of the cluster that credentials depend on. */
import type { KubeObject } from "#api";

export type Plural = "serviceaccounts" | "secrets" | "pods" | "nodes";

export interface ClusterObjects {
  /** From this server's cache. `namespace` is "" for nodes. */
  find(plural: Plural, namespace: string, name: string): KubeObject | undefined;
  /** Resolves when the cache has everything that has been written, by other servers, too. */
  refresh(): Promise<void>;
}

/**
 * The object with this uid. The cache may lag behind another server: before the answer is no, the object is looked up
 * again.
 */
export async function lookUp(
  objects: ClusterObjects,
  plural: Plural,
  { namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid?: string },
): Promise<KubeObject | undefined> {
  const found = objects.find(plural, namespace, name);
  if (found !== undefined && (uid === undefined || found.metadata.uid === uid)) return found;
  await objects.refresh();
  return objects.find(plural, namespace, name);
}
