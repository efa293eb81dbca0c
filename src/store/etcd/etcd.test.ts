/** The contract on one member without TLS, and what is particular to a store that shares its etcd with others. */

import diagnostics from "node:diagnostics_channel";
import { mkdtemp } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realClock, silentLogger, systemRandom, VirtualClock } from "#base";
import type { Store } from "../model/store.ts";
import { type EtcdServer, findEtcd, startEtcd } from "../testing/etcd-server.ts";
import { describeStore, WatchReader } from "../testing/index.ts";
import { runCompactor } from "./compactor.ts";
import { Connection } from "./connection.ts";
import { type EtcdOptions, openEtcdStore } from "./index.ts";
import { COMPACTION_KEY } from "./keys.ts";

const clock = realClock();
const PATIENCE = { timeout: 60_000, interval: 10 };
const log = silentLogger;
const KB = Buffer.alloc(1024, "x");

describe.skipIf(findEtcd() === undefined)("one member", () => {
  let etcd: EtcdServer;
  const opened = new Set<Store>();
  const open = async (options: Partial<EtcdOptions> = {}): Promise<Store> => {
    const store = await openEtcdStore({ endpoints: etcd.endpoints, clock, compactionIntervalMs: 0, ...options });
    opened.add(store);
    return store;
  };
  const connect = () => new Connection({ endpoints: etcd.endpoints, tls: {}, clock, random: systemRandom() });
  beforeAll(async () => {
    etcd = await startEtcd({ members: 1, tls: false, dir: await mkdtemp(join(tmpdir(), "k8ts-etcd-")) });
  });
  afterAll(async () => {
    await Promise.all([...opened].map((store) => store.close()));
    await etcd?.stop();
  });

  describeStore("store contract", {
    open,
    close: (store) => store.close(),
    reopen: async (store) => {
      await store.close();
      return open();
    },
    property: { numRuns: 30 },
  });

  it("keeps the keys of two clusters apart by their prefix, and tells its size", async () => {
    const at = (to: string) => open({ moved: { from: "/registry/", to } });
    const [one, two, all] = await Promise.all([at("/clusters/one/"), at("/clusters/two/"), open()]);
    const watch = new WatchReader(two, "/registry/", await two.revision());
    await one.create("/registry/a", Buffer.from("1"));
    await two.create("/registry/a", Buffer.from("2"));
    expect((await all.list("/clusters/")).entries.map(({ key }) => key)).toEqual([
      "/clusters/one/a",
      "/clusters/two/a",
    ]);
    const [change] = await watch.changes(1);
    expect([change?.key, change?.entry?.value.toString()]).toEqual(["/registry/a", "2"]);
    expect(await one.sizeBytes?.()).toBeGreaterThan(0);
    await watch.stop();
  });

  it("shows writes made through another store", async () => {
    const [writer, reader] = await Promise.all([open(), open()]);
    const watch = new WatchReader(reader, "/two/", await reader.revision());
    const outcomes = [];
    for (const name of ["a", "b", "c"]) outcomes.push(await writer.create(`/two/${name}`, Buffer.from(name)));
    const seen = (await watch.changes(3)).map(({ key, revision }) => ({ key, revision }));
    expect(seen.map(({ key }) => key)).toEqual(["/two/a", "/two/b", "/two/c"]);
    expect(seen.map(({ revision }) => ({ ok: true, revision }))).toEqual(outcomes);
    await watch.stop();
  });

  it("serves from etcd what a small window no longer holds, to a reader that stopped", async () => {
    const store = await open({ windowBytes: 8 * 1024 });
    const start = await store.revision();
    const readers = [0, 1, 2].map(() => new WatchReader(store, "/slow/", start));
    const total = 1500;
    for (let i = 0; i < total; i += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, j) => store.create(`/slow/${i + j}`, KB)));
      if (i % 500 === 0) await readers[1]?.changes(i + 1);
    }
    const head = await store.revision();
    for (const reader of readers) {
      const seen = (await reader.catchUp(head)).map((change) => change.revision);
      expect(seen).toEqual(Array.from({ length: total }, (_, i) => start + 1 + i));
      await reader.stop();
    }
  });

  it("delivers large changes whole, which etcd sends in fragments, and all keys of one foreign transaction at once", async () => {
    const writer = await open();
    const start = await writer.revision();
    const large = Buffer.alloc(1024 * 1024, "y");
    for (const name of ["a", "b", "c", "d"]) await writer.create(`/large/${name}`, large);
    const connection = connect();
    const keys = Array.from({ length: 100 }, (_, i) => `/large/many-${String(i).padStart(3, "0")}`);
    const puts = keys.map((key) => ({ put: { key: Buffer.from(key), value: KB } }));
    await connection.write(connection.rpc.txn, { success: puts }, connection.deadline());
    await writer.create("/large/z", large);
    await connection.close();

    const store = await open();
    const batches: { revisions: Set<number>; claimed: number }[] = [];
    const found: string[] = [];
    for await (const { changes, revision } of store.watch("/large/", {
      after: start,
      signal: AbortSignal.timeout(30_000),
    })) {
      batches.push({ revisions: new Set(changes.map((change) => change.revision)), claimed: revision });
      for (const { key, entry } of changes) {
        found.push(key);
        expect(entry?.value.length).toBe(key.includes("many") ? KB.length : large.length);
      }
      if (revision >= start + 6) break;
    }
    expect(found).toEqual([..."abcd"].map((name) => `/large/${name}`).concat(keys, "/large/z"));
    const foreign = start + 5;
    expect(batches.filter(({ revisions }) => revisions.has(foreign))).toHaveLength(1);
    for (const { revisions, claimed } of batches)
      for (const revision of revisions) expect(revision).toBeLessThanOrEqual(claimed);
  });

  it("keeps its own keys to itself", async () => {
    const store = await open();
    const connection = connect();
    const { rpc } = connection;
    const before = await store.count("");
    const watch = new WatchReader(store, "", await store.revision());
    await connection.write(rpc.put, { key: COMPACTION_KEY, value: Buffer.from("1") }, connection.deadline());
    expect(await store.count("")).toBe(before);
    expect((await store.list("", { limit: 1 })).entries[0]?.key).toMatch(/^\//);
    expect(await watch.catchUp(await store.revision())).toEqual([]);
    await expect(store.get("\0k8ts/compact_rev_key")).rejects.toThrow(RangeError);
    await expect(store.list("\0k8ts")).rejects.toThrow(RangeError);
    await watch.stop();
    await connection.close();
  });

  it("compacts once in each interval, to the revision of one interval ago, however many stores share the etcd", async () => {
    const virtual = new VirtualClock();
    const store = await open();
    const connection = connect();
    const compactions: { server: number; revision: number }[] = [];
    const stop = new AbortController();
    const turns = [0, 0];
    const servers = [0, 1].map((server) => {
      const counted = { ...clockOf(virtual), sleep: (ms: number, signal?: AbortSignal) => sleep(server, ms, signal) };
      const compact = async (revision: number) => void compactions.push({ server, revision });
      return runCompactor({ connection, clock: counted, log, intervalMs: 60_000, compact }, stop.signal);
    });
    function sleep(server: number, ms: number, signal?: AbortSignal): Promise<void> {
      turns[server] = (turns[server] ?? 0) + 1;
      return virtual.sleep(ms, signal);
    }

    const heads: number[] = [];
    for (let turn = 1; turn <= 4; turn++) {
      await expect.poll(() => turns, PATIENCE).toEqual([turn, turn]);
      heads.push(await store.revision());
      await store.create(`/compaction/${turn}`, Buffer.from("x"));
      if (turn < 4) await virtual.advance(60_000);
    }
    stop.abort();
    await Promise.allSettled(servers);
    expect(compactions.map(({ revision }) => revision)).toEqual(heads.slice(0, 3));
    await connection.close();
  });

  it("compacts by itself", async () => {
    const store = await open({ compactionIntervalMs: 50 });
    const { revision } = await store.list("/");
    await store.create("/self/a", Buffer.from("x"));
    await expect
      .poll(() => store.list("/", { revision, limit: 1 }).catch((error: unknown) => error), PATIENCE)
      .toMatchObject({ code: "Compacted" });
  });

  it("lists the newest state whole, in parts, while it is being compacted away", async () => {
    const store = await open();
    const total = 10_100;
    for (let i = 0; i < total; i += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, j) => store.create(`/parts/${i + j}`, Buffer.from("x"))));
    }
    let compacting = true;
    const compactor = (async () => {
      for (let i = 0; compacting; i++) {
        const outcome = await store.create(`/other/${i}`, Buffer.from("x"));
        if (outcome.ok) await store.compact(outcome.revision);
      }
    })();
    for (let round = 0; round < 5; round++) expect((await store.list("/parts/")).entries).toHaveLength(total);
    expect((await store.list("/parts/", { limit: 10_001 })).entries).toHaveLength(10_001);
    compacting = false;
    await compactor;
  });

  it("rejects values larger than etcd takes as a mistake of the caller", async () => {
    const store = await open();
    await expect(store.create("/too-large", Buffer.alloc(3_000_000))).rejects.toThrow(RangeError);
  });

  it("leaves no connection open", async () => {
    const sockets: Socket[] = [];
    const note = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
    diagnostics.subscribe("net.client.socket", note);
    const store = await open();
    const watch = new WatchReader(store, "/", await store.revision());
    const ended = watch.next().catch((error: unknown) => error);
    await store.count("/");
    diagnostics.unsubscribe("net.client.socket", note);
    expect(sockets.map((socket) => socket.destroyed)).toEqual([false]);
    await store.close();
    expect(await ended).toMatchObject({ code: "Closed" });
    await expect.poll(() => sockets.map((socket) => socket.destroyed), PATIENCE).toEqual([true]);
  });
});

function clockOf(virtual: VirtualClock) {
  return {
    now: () => virtual.now(),
    monotonic: () => virtual.monotonic(),
    timer: (ms: number, fire: () => void) => virtual.timer(ms, fire),
  };
}
