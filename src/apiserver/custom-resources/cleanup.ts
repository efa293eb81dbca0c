/**
 * Deletes the instances of a definition that is being deleted, and waits until they are gone.
 *
 *     marked ══► Terminating ──► instances deleted ···► none left ══► finalizer removed, and with it the definition
 *
 * 1. Every wait is bounded: instances that are not gone in time are reported in the condition, and the cleanup is tried
 *    again.
 * 2. It may run on several servers at once: each step is idempotent.
 */
import type { ConditionFacts } from "#api";
import { isConditionTrue } from "#api";
import type { Clock } from "#base";
import type { StoreFeed } from "../cache/feed.ts";
import type { ResourceCache } from "../cache/resource-cache.ts";
import { serverRequest } from "../loopback/server-request.ts";
import type { Resource } from "../rest/resource.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { deleteCollection } from "../rest/write/delete-collection.ts";
import { type Definition, overlapsBuiltIn } from "./definition.ts";

const GONE_WITHIN_MS = 60_000;

export const DELETING: ConditionFacts = {
  status: "True",
  reason: "InstanceDeletionInProgress",
  message: "CustomResource deletion is in progress",
};

const DELETED: ConditionFacts = {
  status: "False",
  reason: "InstanceDeletionCompleted",
  message: "removed all instances",
};
const OVERLAPS: ConditionFacts = {
  status: "False",
  reason: "OverlappingBuiltInResource",
  message: "instances overlap with built-in resources in storage",
};
const NEVER_ESTABLISHED: ConditionFacts = {
  status: "False",
  reason: "NeverEstablished",
  message: "resource was never established",
};

export interface CleanupOptions {
  readonly context: ServerContext;
  /** The instances in their storage version. */
  readonly instances: () => Promise<Resource>;
  readonly signal: AbortSignal;
}

/** Returns the condition Terminating. Its status is False if the finalizer can be removed. */
export async function cleanUp(definition: Definition, options: CleanupOptions): Promise<ConditionFacts> {
  if (overlapsBuiltIn(definition)) return OVERLAPS;
  if (!isConditionTrue(definition, "Established")) return NEVER_ESTABLISHED;
  const { context, signal } = options;
  const instances = await options.instances();
  try {
    await deleteCollection(serverRequest(context, instances));
  } catch (error) {
    return unfinished("InstanceDeletionFailed", `could not issue all deletes: ${messageOf(error)}`);
  }
  if (await isEmptied(instances.cache, context.feed, context.clock, signal)) return DELETED;
  const why = "could not confirm zero CustomResources remaining: context deadline exceeded";
  return unfinished("InstanceDeletionCheck", why);
}

function unfinished(reason: string, message: string): ConditionFacts {
  return { status: "True", reason, message };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** False if instances are left after the time limit. Rejects with the signal's reason. */
async function isEmptied(cache: ResourceCache, feed: StoreFeed, clock: Clock, signal: AbortSignal): Promise<boolean> {
  if (cache.size === 0) return true;
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const look = () => {
    if (cache.size === 0) resolve(true);
  };
  // After a relist the cache is filled in the same turn; look when that is done.
  const stop = cache.watch({}, feed.revision, { event: look, expired: () => queueMicrotask(look), ended: look });
  const timer = clock.timer(GONE_WITHIN_MS, () => resolve(false));
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await promise;
  } finally {
    stop?.();
    timer.cancel();
    signal.removeEventListener("abort", abort);
  }
}
