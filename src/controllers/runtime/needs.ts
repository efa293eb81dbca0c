/** Whether a server serves the kinds that a controller needs. */
import { isStatusError } from "#api";
import type { Client, ResourceName } from "#client";

interface ResourceList {
  readonly resources?: readonly { readonly name: string }[];
}

/** The first of them that is not served; undefined: all are. */
export async function firstUnserved(
  client: Client,
  needs: readonly ResourceName[],
  signal: AbortSignal,
): Promise<ResourceName | undefined> {
  for (const need of needs) {
    const served = await servedIn(client, need.apiVersion, signal);
    if (!served.includes(need.plural)) return need;
  }
  return undefined;
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
