/** Three members over mutual TLS: the contract, and what happens to writes and watches when members fail. */

import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { isStoreError } from "../model/errors.ts";
import type { Revision, Store } from "../model/store.ts";
import { type EtcdServer, findEtcd, startEtcd } from "../testing/etcd-server.ts";
import { describeStore, WatchReader } from "../testing/index.ts";
import { openEtcdStore } from "./index.ts";

const PREFIX = "/load/";
const SHORT = { timeoutMs: 1500 };
const PATIENCE = { timeout: 60_000, interval: 20 };
const clock = realClock();

describe.skipIf(findEtcd() === undefined)("a cluster of three", () => {
  let etcd: EtcdServer;
  beforeAll(async () => {
    etcd = await startEtcd({ members: 3, tls: true, dir: await mkdtemp(join(tmpdir(), "k8ts-etcd-")) });
  });
  afterAll(() => etcd?.stop());

  /** A store that tries this member first. */
  const openAt = async (first: number): Promise<Store> => {
    const endpoints = [...etcd.endpoints.slice(first), ...etcd.endpoints.slice(0, first)];
    return openEtcdStore({ endpoints, ...(etcd.tls && { tls: etcd.tls }), clock, compactionIntervalMs: 0 });
  };

  describeStore("store contract", {
    open: () => openAt(0),
    close: (store) => store.close(),
    reopen: async (store) => {
      await store.close();
      return openAt(1);
    },
    property: { numRuns: 10 },
  });

  describe("under load", () => {
    let leader: number;
    let store: Store;
    let load: Load;
    let watch: BackgroundWatch;
    beforeEach(async () => {
      await etcd.healthy();
      await expect.poll(() => etcd.leader(), PATIENCE).toBeDefined();
      leader = (await etcd.leader()) ?? 0;
    });
    afterEach(async () => {
      await load.stop();
      await watch.stop();
      await store.close();
    });

    const begin = async (first: number): Promise<void> => {
      store = await openAt(first);
      watch = new BackgroundWatch(store, await store.revision());
      load = new Load(store);
      await load.more(50);
    };
    /** Everything acknowledged is there, and the watch has seen each write of the load exactly once. */
    const verify = async (): Promise<void> => {
      await load.stop();
      const { entries, revision: head } = await store.list(PREFIX);
      const found = new Map(entries.map(({ key, revision }) => [key, revision]));
      for (const [key, revision] of load.acknowledged) expect([key, found.get(key)]).toEqual([key, revision]);
      const seen = await watch.through(head);
      // Nothing is updated or deleted: what is there is what was written. (The fence takes revisions as well.)
      const written = entries.map(({ revision }) => revision).filter((revision) => revision > watch.start);
      expect(seen).toEqual(written.toSorted((a, b) => a - b));
      expect(load.surprises).toEqual([]);
    };

    const follower = () => (leader + 1) % 3;
    const cases = [
      { name: "the member it talks to is killed", first: follower, hit: follower, how: "kill" },
      { name: "the leader is killed", first: follower, hit: () => leader, how: "kill" },
      {
        name: "the leader is killed, which is the member it talks to",
        first: () => leader,
        hit: () => leader,
        how: "kill",
      },
      { name: "the member it talks to is paused", first: follower, hit: follower, how: "pause" },
      { name: "the leader is paused", first: follower, hit: () => leader, how: "pause" },
    ] as const;

    it.each(cases)("loses nothing and goes on when $name", async ({ first, hit, how }) => {
      await begin(first());
      const member = hit();
      if (how === "kill") await etcd.kill(member);
      else await etcd.pause(member);
      await load.more(100);
      await watch.through(await store.revision());
      if (how === "kill") etcd.restart(member);
      else etcd.resume(member);
      await load.more(20);
      await verify();
    });

    it("fails in time when two of three are gone, still reads what one member has, and works again by itself", async () => {
      const last = follower();
      await begin((last + 1) % 3);
      const known = (await store.list(PREFIX)).entries[0];
      const gone = [0, 1, 2].filter((member) => member !== last);
      await Promise.all(gone.map((member) => etcd.kill(member)));
      await load.stop();

      const calls: Record<string, () => Promise<unknown>> = {
        get: () => store.get(`${PREFIX}x`, SHORT),
        list: () => store.list(PREFIX, SHORT),
        revision: () => store.revision(SHORT),
        create: () => store.create(`${PREFIX}unlucky`, Buffer.from("x"), SHORT),
        compact: () => store.compact(1, SHORT),
      };
      for (const [name, call] of Object.entries(calls)) {
        const startMs = clock.monotonic();
        const error = await call().catch((thrown: unknown) => thrown);
        expect([name, isStoreError(error, "Unavailable")]).toEqual([name, true]);
        // The deadline, and what a busy machine may take on top.
        expect(clock.monotonic() - startMs).toBeLessThan(SHORT.timeoutMs + 3000);
      }
      const local = { consistency: "local", timeoutMs: 10_000 } as const;
      expect((await store.get(known?.key ?? "", local))?.revision).toBe(known?.revision);
      expect((await store.list(PREFIX, local)).entries.length).toBeGreaterThanOrEqual(50);
      expect(await store.count(PREFIX, local)).toBeGreaterThanOrEqual(50);

      for (const member of gone) etcd.restart(member);
      load.resume();
      await load.more(20);
      await verify();
    });
  });
});

/** Writers that go on whatever happens, and remember what was acknowledged. */
class Load {
  readonly acknowledged = new Map<string, Revision>();
  /** What must not happen: errors other than Unavailable, and refusals. */
  readonly surprises: unknown[] = [];
  readonly #store: Store;
  #stopped = false;
  #next = 0;
  #writers: Promise<void>[] = [];

  constructor(store: Store) {
    this.#store = store;
    this.resume();
  }

  resume(): void {
    this.#stopped = false;
    this.#writers = Array.from({ length: 4 }, () => this.#write());
  }

  /** Waits until so many more writes have been acknowledged. */
  async more(count: number): Promise<void> {
    const goal = this.acknowledged.size + count;
    await expect.poll(() => this.acknowledged.size, PATIENCE).toBeGreaterThanOrEqual(goal);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#writers);
  }

  async #write(): Promise<void> {
    while (!this.#stopped) {
      const key = `${PREFIX}${process.pid}-${clock.monotonic()}-${this.#next++}`;
      try {
        const outcome = await this.#store.create(key, Buffer.from(key), SHORT);
        if (outcome.ok) this.acknowledged.set(key, outcome.revision);
        else this.surprises.push(outcome);
      } catch (error) {
        if (!isStoreError(error, "Unavailable")) this.surprises.push(error);
      }
      // Not as fast as possible: the tests are about failures, and the members share the machine.
      await clock.sleep(2);
    }
  }
}

/** A watch that is read all the time. */
class BackgroundWatch {
  readonly start: Revision;
  readonly #reader: WatchReader;
  readonly #reading: Promise<unknown>;

  constructor(store: Store, start: Revision) {
    this.start = start;
    this.#reader = new WatchReader(store, PREFIX, start);
    this.#reading = this.#read().catch((error: unknown) => error);
  }

  async through(revision: Revision): Promise<readonly Revision[]> {
    this.#reader.watch.requestProgress();
    await expect.poll(() => this.#reader.revision, PATIENCE).toBeGreaterThanOrEqual(revision);
    return this.#reader.received.map((change) => change.revision).filter((seen) => seen <= revision);
  }

  async stop(): Promise<void> {
    this.#reader.abort();
    expect(await this.#reading).toBeUndefined();
  }

  async #read(): Promise<void> {
    while ((await this.#reader.next()) !== undefined);
  }
}
