import type { Page, Revision } from "#store";
import { gone } from "../../past/index.ts";
import type { ServerContext } from "../server-context.ts";
import { storeCall } from "../store-call.ts";

export async function pastState(
  context: ServerContext,
  prefix: string,
  revision: Revision,
  limit?: number,
): Promise<Page> {
  try {
    return await context.store.list(prefix, { revision, ...(limit !== undefined && { limit }) });
  } catch (error) {
    const told = gone(error, revision);
    if (told !== error) throw told;
    return storeCall(() => Promise.reject(error));
  }
}
