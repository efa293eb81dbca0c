/**
 * What an object takes from a common stock (addresses, ports) when it is written, and what it gives back when it ends.
 *
 * A write that may have happened may use what it took: nothing is given back then, and the repair loop finds what is
 * not used.
 */
import type { KubeObject } from "#api";
import type { Maybe } from "#base";
import { isStoreError } from "#store";
import type { Resource } from "../resource.ts";
import type { Allocation, Allocator, ServerContext } from "../server-context.ts";
import type { Write } from "./write.ts";

/** Resources without an allocator pay nothing. */
export function allocate(write: Write): Maybe<void> {
  const { request, draft, old, dryRun } = write;
  const allocator = allocatorOf(request.context, request.resource);
  return allocator?.allocate({ draft, old, dryRun }).then((allocation) => {
    write.allocation = allocation;
  });
}

/** After a write that failed. */
export async function giveBackAfter(error: unknown, allocation: Allocation | undefined): Promise<void> {
  if (allocation !== undefined && !mayHaveHappened(error)) await allocation.giveBack();
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
