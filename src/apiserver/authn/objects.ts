/** What authentication looks up in the cluster itself: the objects that credentials hang on. */
import type { KubeObject } from "#api";

export type Plural = "serviceaccounts" | "secrets" | "pods" | "nodes";

export interface ClusterObjects {
  /** As far as this server knows. `namespace` is "" for nodes. */
  find(plural: Plural, namespace: string, name: string): KubeObject | undefined;
  /** Waits until this server knows all that has been written, by others too. */
  refresh(): Promise<void>;
}

/** The object with this uid. What was made a moment ago by way of another server may not be known here yet: before the answer is no, it is looked up again. */
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
