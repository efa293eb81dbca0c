/**
 * Installs the CustomResourceDefinitions of snapshots, and waits until their kinds are served.
 *
 * A definition that exists is left as it is, whatever its version: it may belong to an installation of the user's.
 */
import { type apiextensions, isStatusError, kinds } from "#api";
import { type Client, createUnlessThere } from "#client";
import type { Definition } from "./definition.ts";
import { groupDefinitions } from "./group-definitions.ts";
import { snapshotDefinitions } from "./snapshot-definitions.ts";

export const definitions: readonly Definition[] = [...snapshotDefinitions, ...groupDefinitions];

/** Resolves when all are established. */
export async function installDefinitions(client: Client, signal: AbortSignal): Promise<void> {
  const all = client.of(kinds.CustomResourceDefinition);
  await Promise.all(definitions.map((definition) => createUnlessThere(all, definition, { signal })));
  await Promise.all(definitions.map(({ metadata }) => established(client, metadata.name ?? "", signal)));
}

async function established(client: Client, name: string, signal: AbortSignal): Promise<void> {
  const all = client.of(kinds.CustomResourceDefinition);
  while (!signal.aborted) {
    const current = await all.get(name, { signal });
    if (isEstablished(current)) return;
    const { resourceVersion = "" } = current.metadata;
    try {
      const watching = { fieldSelector: `metadata.name=${name}`, resourceVersion, signal };
      for await (const event of all.watch(watching)) {
        if (event.type === "DELETED") throw new Error(`the definition ${name} was deleted while it was installed`);
        if (event.type !== "BOOKMARK" && isEstablished(event.object)) return;
      }
    } catch (error) {
      // The watch was too old or the server closed it: look again.
      if (!isStatusError(error, "Expired")) throw error;
    }
  }
  signal.throwIfAborted();
}

function isEstablished({ status }: apiextensions.CustomResourceDefinition): boolean {
  return status?.conditions?.some((each) => each.type === "Established" && each.status === "True") ?? false;
}
