/** An object as YAML in the order of `kubectl get -o yaml`, without managedFields. */
import type { KubeObject } from "../api/watched.ts";

export async function plainYaml(object: KubeObject): Promise<string> {
  const { stringify } = await import("yaml");
  const { managedFields: _, ...metadata } = object.metadata;
  // In kubectl's order: the server keeps the order of each writer.
  return stringify({ ...object, metadata }, { lineWidth: 0, sortMapEntries: true });
}
