/** The store on etcd: its parts put together, in the order in which they open and close. */

import { type Clock, isAbort, type Logger, type Random, TaskGroup } from "#base";
import type {
  CallOptions,
  Entry,
  ListOptions,
  Page,
  ReadOptions,
  Revision,
  Store,
  Watch,
  WatchOptions,
  WriteOutcome,
} from "../model/store.ts";
import { runCompactor } from "./compactor.ts";
import type { Connection } from "./connection.ts";
import { KeyValues } from "./kv.ts";
import { EtcdWatches } from "./watch.ts";

export interface EtcdStoreOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** 0: this store never compacts by itself. */
  readonly compactionIntervalMs: number;
  readonly windowBytes: number;
  /** Called with the URLs of the members, again and again; undefined: the given ones stay. */
  readonly onMembers?: ((urls: readonly string[]) => void) | undefined;
}

const MEMBERS_MS = 5_000;

export class EtcdStore implements Store {
  readonly #connection: Connection;
  readonly #keyValues: KeyValues;
  readonly #watches: EtcdWatches;
  readonly #tasks: TaskGroup;

  constructor(options: EtcdStoreOptions) {
    const { compactionIntervalMs: intervalMs, windowBytes, onMembers, connection, clock, random, log } = options;
    const keyValues = new KeyValues(connection);
    this.#connection = connection;
    this.#keyValues = keyValues;
    this.#watches = new EtcdWatches({ connection, keyValues, random, log, windowBytes });
    this.#tasks = new TaskGroup({ parent: connection.signal });
    if (onMembers !== undefined)
      this.#tasks.run("members", (signal) => followMembers({ connection, clock, log, onMembers }, signal));
    if (intervalMs === 0) return;
    const compact = (revision: Revision) => this.compact(revision);
    this.#tasks.run("compaction", (signal) => runCompactor({ connection, clock, log, intervalMs, compact }, signal));
  }

  get(key: string, options?: ReadOptions): Promise<Entry | undefined> {
    return this.#keyValues.get(key, options);
  }

  list(prefix: string, options?: ListOptions): Promise<Page> {
    return this.#keyValues.list(prefix, options);
  }

  count(prefix: string, options?: ReadOptions): Promise<number> {
    return this.#keyValues.count(prefix, options);
  }

  create(key: string, value: Buffer, options?: CallOptions): Promise<WriteOutcome> {
    return this.#keyValues.create(key, value, options);
  }

  update(key: string, value: Buffer, expected: Revision, options?: CallOptions): Promise<WriteOutcome> {
    return this.#keyValues.update(key, value, expected, options);
  }

  delete(key: string, expected: Revision, options?: CallOptions): Promise<WriteOutcome> {
    return this.#keyValues.delete(key, expected, options);
  }

  watch(prefix: string, options: WatchOptions): Watch {
    return this.#watches.watch(prefix, options);
  }

  revision(options?: ReadOptions): Promise<Revision> {
    return this.#keyValues.revision(options);
  }

  async compact(revision: Revision, options?: CallOptions): Promise<void> {
    await this.#keyValues.compact(revision, options);
    this.#watches.compacted(revision);
  }

  /** Of the member that answers. */
  async sizeBytes(): Promise<number> {
    const { rpc } = this.#connection;
    const { dbSize } = await this.#connection.read(rpc.status, {}, this.#connection.deadline(), "local");
    return Number(dbSize);
  }

  async close(): Promise<void> {
    await this.#connection.close();
    await Promise.all([this.#watches.close(), this.#tasks.stop()]);
  }
}

interface MembersOptions extends Pick<EtcdStoreOptions, "connection" | "clock" | "log"> {
  onMembers(urls: readonly string[]): void;
}

/** Calls go to members that have joined since the start, and no more to those that have left. */
async function followMembers({ connection, clock, log, onMembers }: MembersOptions, signal: AbortSignal) {
  for (;;) {
    try {
      const { members } = await connection.read(connection.rpc.memberList, {}, connection.deadline(), "local");
      const urls = members.flatMap(({ clientUrls, isLearner }) => (isLearner ? [] : clientUrls.slice(0, 1)));
      connection.setMembers(urls);
      if (urls.length > 0) onMembers(urls);
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      log.debug("etcd does not say who its members are; it is asked again", { error });
    }
    await clock.sleep(MEMBERS_MS, signal);
  }
}
