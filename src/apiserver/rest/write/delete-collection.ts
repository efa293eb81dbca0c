/** deletecollection: every object that a list would show, each deleted by the rules of a single deletion. */
import { isStatusError } from "#api";
import { type ListResult, listSelected } from "../read/list.ts";
import { listOptions } from "../read/list-options.ts";
import { selectionOf } from "../read/selection.ts";
import type { RestRequest } from "../rest-request.ts";
import { deleteWith, readOptions } from "./delete.ts";

/** Unless `--delete-collection-workers` says otherwise. */
const AT_ONCE = 16;

/** Returns the list, as Kubernetes does: the objects as they were. */
export async function deleteCollection(request: RestRequest): Promise<ListResult> {
  const options = await readOptions(request);
  const result = await listSelected(request, selectionOf(request), listOptions(request.query));
  const waiting = [...result.objects];
  const worker = async () => {
    for (let stored = waiting.shift(); stored !== undefined; stored = waiting.shift()) {
      const { name = "", namespace = "" } = stored.object.metadata;
      try {
        await deleteWith({ ...request, name, namespace }, options);
      } catch (error) {
        if (!isStatusError(error, "NotFound")) throw error;
      }
    }
  };
  const workers = Math.max(1, request.context.deleteWorkers ?? AT_ONCE);
  await Promise.all(Array.from({ length: Math.min(workers, waiting.length) }, worker));
  return result;
}
