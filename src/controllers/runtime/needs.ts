/** Whether a server serves the kinds that a controller needs. */
import { isStatusError } from "#api";
import type { Client, ResourceName } from "#client";

interface ResourceList {
  readonly resources?: readonly { readonly name: string }[];
}

export async function areServed(client: Client, needs: readonly ResourceName[], signal: AbortSignal): Promise<boolean> {
  for (const { apiVersion, plural } of needs) {
    const served = await servedIn(client, apiVersion, signal);
    if (!served.includes(plural)) return false;
  }
  return true;
}

async function servedIn(client: Client, apiVersion: string, signal: AbortSignal): Promise<readonly string[]> {
  const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  try {
    const list = JSON.parse(await client.text(path, { signal, accept: "application/json" })) as ResourceList;
    return (list.resources ?? []).map(({ name }) => name);
  } catch (error) {
    if (isStatusError(error, "NotFound")) return [];
    throw error;
  }
}
