import type { Page, Revision } from "#store";
import { gone } from "../../past/index.ts";
import type { StorageContext } from "../server-context.ts";
import { storeCall } from "../store-call.ts";

/** What the store had under a prefix at a revision. */
export async function pastState(
  context: Pick<StorageContext, "store">,
  prefix: string,
  revision: Revision,
  limit?: number,
): Promise<Page> {
  try {
    return await context.store.list(prefix, { revision, limit });
  } catch (error) {
    const status = gone(error, revision);
    if (status !== error) throw status;
    return storeCall(() => Promise.reject(error));
  }
}
