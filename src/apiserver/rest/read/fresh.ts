/** Waiting until the caches have reached a revision. */
import { StatusError } from "#api";
import { type Revision, StoreError } from "#store";
import type { StorageContext } from "../server-context.ts";
import { storeCall } from "../store-call.ts";

/** As long as the store itself may take to answer. */
const SHOWN_WITHIN_MS = 5_000;
const FUTURE_WAIT_MS = 3_000;

/** Waits until the caches show every write that the store has acknowledged. */
export async function fresh(context: StorageContext): Promise<void> {
  if (isFresh(context)) return;
  await shown(context, context.newest?.() ?? (await storeCall(() => context.store.revision())));
}

/** Whether the caches are known to show every write that the store has acknowledged. */
export function isFresh({ sharedStore, newest, feed }: StorageContext): boolean {
  return !sharedStore || (newest !== undefined && feed.revision >= newest());
}

export async function notOlderThan({ feed, clock }: StorageContext, revision: Revision): Promise<void> {
  if (feed.revision >= revision) return;
  const late = new AbortController();
  const timer = clock.timer(FUTURE_WAIT_MS, () => late.abort(tooLarge(revision, feed.revision)));
  await feed.reached(revision, late.signal).finally(() => timer.cancel());
}

function tooLarge(asked: Revision, current: Revision): StatusError {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  return new StatusError("Timeout", message, {
    details: {
      retryAfterSeconds: 1,
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    },
  });
}

/**
 * Waits until the caches show a revision that the store has reached: with a limit, because the watch of a shared store
 * may stall.
 */
export function shown({ feed, clock, sharedStore }: StorageContext, revision: Revision): Promise<void> | undefined {
  if (feed.revision >= revision) return undefined;
  if (!sharedStore) return storeCall(() => feed.reached(revision));
  const late = new AbortController();
  const timer = clock.timer(SHOWN_WITHIN_MS, () => late.abort(notReached(revision)));
  return storeCall(() => feed.reached(revision, late.signal)).finally(() => timer.cancel());
}

function notReached(revision: Revision): StoreError {
  const message = `the watch of the store did not reach revision ${revision} in time; the write may have happened`;
  return new StoreError("Unavailable", message, { maybeApplied: true });
}
