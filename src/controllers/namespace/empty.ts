/**
 * Deletes all objects of a namespace, of every resource, and returns what is left.
 *
 * 1. A failure of one resource does not stop the others.
 * 2. A resource that could not be discovered is not known to be empty: the namespace stays.
 */
import { isStatusError } from "#api";
import { type Client, type DiscoveredResource, discoverResources } from "#client";
import type { Emptying } from "./conditions.ts";

const SIDE_BY_SIDE = 8;

export async function emptyNamespace(client: Client, namespace: string, signal: AbortSignal): Promise<Emptying> {
  const remaining = new Map<string, number>();
  const finalizers = new Map<string, number>();
  const failures: string[] = [];
  let discoveryError: string | undefined;
  let resources: readonly DiscoveredResource[] = [];
  try {
    const found = await discoverResources(client, { signal });
    resources = found.resources.filter(({ namespaced, verbs }) => namespaced && verbs.includes("delete"));
    if (found.unknownGroups.size > 0)
      discoveryError = `Discovery failed for some groups, ${found.unknownGroups.size} failing: unable to retrieve the complete list of server APIs: ${[...found.unknownGroups].sort().join(", ")}`;
  } catch (error) {
    if (signal.aborted) throw error;
    discoveryError = messageOf(error);
  }
  const waiting = [...resources];
  const worker = async () => {
    for (let resource = waiting.shift(); resource !== undefined; resource = waiting.shift()) {
      try {
        await deleteAll(client, resource, namespace, signal);
        const left = await client.metadataOf(resource).in(namespace).list({ signal });
        if (left.items.length > 0) remaining.set(`${resource.plural}.${resource.group}`, left.items.length);
        for (const { metadata } of left.items)
          for (const each of metadata.finalizers ?? []) finalizers.set(each, (finalizers.get(each) ?? 0) + 1);
      } catch (error) {
        if (signal.aborted) throw error;
        // The resource is no longer served, or cannot be listed: nothing to delete.
        if (isStatusError(error) && (error.reason === "NotFound" || error.reason === "MethodNotAllowed")) continue;
        failures.push(messageOf(error));
      }
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
  return { failures, remaining, finalizers, discoveryError };
}

async function deleteAll(
  client: Client,
  resource: DiscoveredResource,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const objects = client.metadataOf(resource).in(namespace);
  if (resource.verbs.includes("deletecollection")) {
    await objects.deleteCollection({ signal, propagationPolicy: "Background" });
    return;
  }
  for (const { metadata } of (await objects.list({ signal })).items)
    await objects.delete(metadata.name ?? "", { signal, propagationPolicy: "Background" });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
