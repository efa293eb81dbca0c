/** Waits of reads and writes until the caches show a revision. */
import { StatusError } from "#api";
import { type Revision, StoreError } from "#store";
import type { ServerContext } from "../server-context.ts";
import { storeCall } from "../store-call.ts";

/** As long as the store itself may take to answer. */
const SHOWN_WITHIN_MS = 5_000;
const FUTURE_WAIT_MS = 3_000;

/** Waits until the caches show all that the store has acknowledged. */
export async function fresh(context: ServerContext): Promise<void> {
  if (context.sharedStore) await shown(context, await storeCall(() => context.store.revision()));
}

export async function notOlderThan({ feed, clock }: ServerContext, revision: Revision): Promise<void> {
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

/** Waits until the caches show a revision that the store has named. One that stops telling of changes then is not waited for without end. */
export function shown({ feed, clock, sharedStore }: ServerContext, revision: Revision): Promise<void> | undefined {
  if (feed.revision >= revision) return undefined;
  if (!sharedStore) return storeCall(() => feed.reached(revision));
  const late = new AbortController();
  const timer = clock.timer(SHOWN_WITHIN_MS, () => late.abort(notTold(revision)));
  return storeCall(() => feed.reached(revision, late.signal)).finally(() => timer.cancel());
}

function notTold(revision: Revision): StoreError {
  const message = `This server has not been told of revision ${revision} in time. A write may have happened all the same.`;
  return new StoreError("Unavailable", message, { maybeApplied: true });
}
