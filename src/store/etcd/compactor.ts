/**
 * Compaction by one of several API servers on one etcd, every few minutes.
 *
 * All of them remember the version of one key, and the revision at the time they saw it. When the interval is over,
 * each tries to raise that version by one. The one that succeeds compacts to the revision that it remembers, which is
 * one interval old; the others remember the new version.
 *
 * 1. Of one interval, exactly one server compacts, and never to a revision younger than the interval.
 * 2. A failed turn only delays compaction until the next turn.
 */

import type { Clock, Logger } from "#base";
import { isAbort } from "#base";
import type { Revision } from "../model/store.ts";
import type { Connection } from "./connection.ts";
import { COMPACTION_KEY } from "./keys.ts";
import type { Request } from "./rpc.ts";

export interface CompactorOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly log: Logger;
  readonly intervalMs: number;
  compact(revision: Revision): Promise<void>;
}

/** What a server remembers from its last turn. */
interface Seen {
  /** Of the key; 0 while it does not exist. */
  readonly version: number;
  readonly revision: Revision;
}

export async function runCompactor(options: CompactorOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, intervalMs } = options;
  let seen: Seen | undefined;
  for (;;) {
    try {
      seen = seen === undefined ? await look(options) : await takeTurn(options, seen);
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      log.warn("etcd could not be compacted; it is tried again.", { error, intervalMs });
      seen = undefined;
    }
    await clock.sleep(intervalMs, signal);
  }
}

async function look({ connection }: CompactorOptions): Promise<Seen> {
  const { kvs, header } = await connection.read(connection.rpc.range, { key: COMPACTION_KEY }, connection.deadline());
  return { version: Number(kvs[0]?.version ?? 0), revision: Number(header?.revision) };
}

async function takeTurn({ connection, log, compact }: CompactorOptions, seen: Seen): Promise<Seen> {
  const request: Request<"TxnRequest"> = {
    compare: [{ key: COMPACTION_KEY, version: seen.version }],
    success: [{ put: { key: COMPACTION_KEY, value: Buffer.from(`${seen.revision}`) } }],
    failure: [{ range: { key: COMPACTION_KEY } }],
  };
  const { succeeded, header, responses } = await connection.write(connection.rpc.txn, request, connection.deadline());
  const revision = Number(header?.revision);
  if (!succeeded) return { version: Number(responses[0]?.range?.kvs[0]?.version ?? 0), revision };
  await compact(seen.revision);
  log.debug("etcd has been compacted.", { revision: seen.revision });
  return { version: seen.version + 1, revision };
}
