/**
 * A server that is several threads over one store, each a whole API server: what one of them knows of the others.
 *
 * 1. To clients, the threads are one server. A request begins when the caches of its thread show everything that any
 *    thread had answered or shown before: authentication, authorization and admission see it, too.
 * 2. What exists once is the first thread's: the server's place in the cluster, upkeep, flow records.
 */
import type { Clock } from "#base";
import type { Revision } from "#store";
import type { WriteLines } from "../audit/index.ts";
import type { StoreFeed } from "../cache/feed.ts";
import type { Answering, ApiRequest, Handle } from "../http/exchange.ts";

/** A thread that does not keep up for so long serves what it has: reads that must be fresh wait on their own. */
const IN_STEP_WITHIN_MS = 5_000;

export interface ServingThread {
  /** The newest revision that anybody may have seen on any thread. */
  readonly newest: () => Revision;
  readonly isFirst: boolean;
  /** Answers requests that are not this thread's. Undefined: it is. */
  readonly elsewhere?: ((request: ApiRequest) => Answering | undefined) | undefined;
  /** Takes the lines of the audit log: one thread writes it. Absent: this one does. */
  readonly auditLog?: WriteLines | undefined;
  /** The metrics of all threads, with those of this one. Absent: only its own are shown. */
  readonly metrics?: ((own: string) => Promise<string>) | undefined;
}

export function isFirst(thread: ServingThread | undefined): boolean {
  return thread?.isFirst !== false;
}

export interface InStepOptions {
  readonly thread: ServingThread;
  readonly feed: StoreFeed;
  readonly clock: Clock;
}

export function inStep(handle: Handle, { thread, feed, clock }: InStepOptions): Handle {
  const { newest, elsewhere } = thread;
  const late = async (request: ApiRequest, revision: Revision) => {
    const giveUp = new AbortController();
    const timer = clock.timer(IN_STEP_WITHIN_MS, () => giveUp.abort());
    await feed.reached(revision, giveUp.signal).catch(() => {});
    timer.cancel();
    return handle(request);
  };
  return (request) => {
    const others = elsewhere?.(request);
    if (others !== undefined) return others;
    const revision = newest();
    return feed.revision >= revision ? handle(request) : late(request, revision);
  };
}
