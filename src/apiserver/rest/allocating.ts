/** A write of an object that takes from a common stock: allocate first, keep or give back afterwards. */
import type { KubeObject } from "#api";
import { isStoreError } from "#store";
import type { AnyDraft } from "./prepare.ts";
import type { Resource } from "./resource.ts";
import type { RestRequest } from "./rest-request.ts";
import type { Allocating, Allocator, ServerContext } from "./server-context.ts";

/** `write` calls `stored` once its object is. Resources without an allocator pay nothing. */
export function allocating<T>(
  { context, resource, subresource }: RestRequest,
  draft: AnyDraft,
  old: KubeObject | undefined,
  dryRun: boolean,
  write: (stored: () => void) => Promise<T>,
): Promise<T> {
  const allocator = subresource === "" ? allocatorOf(context, resource) : undefined;
  return allocator === undefined ? write(() => {}) : allocatingBy(allocator, { draft, old, dryRun }, write);
}

async function allocatingBy<T>(
  allocator: Allocator,
  wanted: Allocating,
  write: (stored: () => void) => Promise<T>,
): Promise<T> {
  const allocation = await allocator.allocate(wanted);
  let kept = false;
  let result: T;
  try {
    result = await write(() => {
      kept = true;
    });
  } catch (error) {
    // A write that may have happened may use what it took: what it did not is found by the repair.
    if (!mayHaveHappened(error)) await allocation.giveBack();
    throw error;
  }
  await (kept ? allocation.keep() : allocation.giveBack());
  return result;
}

/** After an object's end. */
export async function release(context: ServerContext, resource: Resource, object: KubeObject): Promise<void> {
  await allocatorOf(context, resource)?.release(object);
}

function allocatorOf({ allocators }: ServerContext, { groupResource }: Resource): Allocator | undefined {
  return allocators.get(`${groupResource.group}/${groupResource.resource}`);
}

function mayHaveHappened(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (isStoreError(at) && at.maybeApplied) return true;
  return false;
}
