/**
 * All changes to all keys after a revision, from whichever member delivers them, without loss or repeats.
 *
 * Every revision of etcd changes at least one key, so a watch over the whole key space sees every revision. Three
 * things follow, and hold whatever version etcd has:
 *
 * 1. The position is exact: when the change of revision 7 has come, everything up to 7 has come. No progress
 *    notification is needed, whose revisions etcd before 3.4.31 and 3.5.13 announces too early.
 * 2. Loss is detected: revisions follow each other without gaps, or the stream is reopened.
 * 3. The feed starts at the revision before the first one wanted, and drops that: so etcd itself reports whether it
 *    still has all that follows. (A watch from the next revision would silently skip a deletion at the very revision of
 *    a compaction.)
 *
 * A stream that breaks, or that does not deliver a revision which answers already show, continues on another member.
 */

import { Backoff, childController } from "#base";
import { compactedError } from "../model/arguments.ts";
import { isStoreError, StoreError } from "../model/errors.ts";
import type { Revision } from "../model/store.ts";
import { Assembly, type FeedBatch, Gap } from "./assembly.ts";
import type { Connection } from "./connection.ts";
import type { Endpoint, WatchStream } from "./endpoint.ts";
import { failureOf, silence } from "./failure.ts";
import { NUL } from "./keys.ts";
import type { Message } from "./rpc.ts";

/** An empty etcd has revision 1, without a change. */
const FIRST_REVISION = 1;
const STALL_CHECK_MS = 1000;
/** Between streams that end before they deliver anything. */
const REOPEN = { initialMs: 20, maxMs: 1000, jitter: 0.3 };

/**
 * Ends only by an error: Compacted, or the reason of the signal, which must be a child of the connection's. Must be
 * read without pause: a feed that is not read looks like a stalled one.
 */
export async function* follow(
  connection: Connection,
  after: Revision,
  signal: AbortSignal,
): AsyncGenerator<FeedBatch, never, undefined> {
  let position = Math.max(after, FIRST_REVISION);
  const reopen = new Backoff(REOPEN, connection.random);
  for (let gaps = 0; ; ) {
    const endpoint = await connection.watchable(signal);
    const assembly = new Assembly(position);
    try {
      for await (const message of messages(connection, endpoint, assembly, signal)) {
        const batch = assembly.add(message);
        if (batch === undefined) continue;
        gaps = 0;
        reopen.reset();
        position = batch.revision;
        yield batch;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (isStoreError(error)) throw error;
      if (error instanceof Gap) {
        // One gap may be a fault of one member; two mean that the history is gone.
        if (++gaps > 1) throw compactedError(position, error.revision);
      } else connection.failed(endpoint, error instanceof Stalled ? silence(true) : failureOf(error));
      await connection.clock.sleep(reopen.next(), signal);
    }
  }
}

/** The oldest readable revision, if something has been compacted: a watch from the beginning reports it. */
export async function oldestRevision(connection: Connection, deadline: number): Promise<Revision> {
  using ending = childController(connection.signal);
  const late = new StoreError("Unavailable", "etcd did not say in time how far it has been compacted.");
  const timer = connection.clock.timer(deadline - connection.clock.monotonic(), () => ending.abort(late));
  try {
    for await (const batch of follow(connection, 0, ending.signal)) {
      // A member that lags behind may still have everything.
      if (batch.revision >= connection.newest) break;
    }
    return FIRST_REVISION;
  } catch (error) {
    if (isStoreError(error, "Compacted") && error.compactRevision !== undefined) return error.compactRevision;
    throw error;
  } finally {
    timer.cancel();
  }
}

class Stalled extends Error {}

async function* messages(
  connection: Connection,
  endpoint: Endpoint,
  { position }: Assembly,
  signal: AbortSignal,
): AsyncGenerator<Message<"WatchResponse">, void, undefined> {
  const stream = endpoint.openWatch();
  const cancel = () => stream.cancel();
  // The iteration below reports errors; an error after it is the cancellation itself.
  stream.on("error", () => {});
  signal.addEventListener("abort", cancel, { once: true });
  const guard = new StallGuard(connection, stream, position);
  try {
    stream.write({ create: { key: NUL, rangeEnd: NUL, startRevision: position, prevKv: true, fragment: true } });
    for await (const message of stream as AsyncIterable<Message<"WatchResponse">>) {
      const { compactRevision, canceled, cancelReason, events } = message;
      if (compactRevision !== "0") throw compactedError(guard.position, Number(compactRevision));
      if (canceled) throw new Error(`the watch was cancelled: ${cancelReason}`);
      guard.position = Number(events.at(-1)?.kv?.modRevision ?? guard.position);
      yield message;
    }
    throw new Error("the watch was ended");
  } catch (error) {
    throw guard.stalled ? new Stalled() : error;
  } finally {
    guard.stop();
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

/** Ends a stream that delivers nothing although there is more: its member may be cut off or stopped. */
class StallGuard {
  position: Revision;
  stalled = false;
  readonly #connection: Connection;
  readonly #stream: WatchStream;
  #timer;

  constructor(connection: Connection, stream: WatchStream, position: Revision) {
    this.#connection = connection;
    this.#stream = stream;
    this.position = position;
    this.#timer = this.#arm();
  }

  stop(): void {
    this.#timer.cancel();
  }

  #arm() {
    const { newest, clock } = this.#connection;
    const { position } = this;
    return clock.timer(STALL_CHECK_MS, () => {
      if (this.position === position && newest > position) {
        this.stalled = true;
        this.#stream.cancel();
      } else this.#timer = this.#arm();
    });
  }
}
