import { describe, expect, it } from "vitest";
import { realClock, VirtualClock } from "#base";
import type { Store } from "../model/store.ts";
import { describeStore, storeProperty, WatchReader } from "../testing/index.ts";
import { type MemoryStore, openMemoryStore } from "./index.ts";

describeStore("memory", {
  open: async () => openMemoryStore({ clock: realClock() }),
  close: (store) => store.close(),
  property: { numRuns: 300 },
});

describe("memory: forks and snapshots", () => {
  const value = Buffer.from("v");

  async function filled(count: number): Promise<MemoryStore> {
    const store = openMemoryStore({ clock: new VirtualClock() });
    for (let i = 0; i < count; i++) await store.create(`/k/${(i * 7919) % count}`, value);
    return store;
  }

  async function everything(store: Store) {
    return { ...(await store.list("")), count: await store.count("") };
  }

  it("shares everything at first: no node is copied by a fork or a snapshot of 100,000 keys", async () => {
    const store = await filled(100_000);
    const clock = realClock();
    // The first fork of a process also compiles the code.
    await (await filled(1)).fork().close();
    const start = clock.monotonic();
    const fork = store.fork();
    const snapshot = store.snapshot();
    const tookMs = clock.monotonic() - start;
    console.info(`fork and snapshot of 100,000 keys: ${tookMs.toFixed(3)} ms`);
    expect([store.copies, fork.copies, snapshot.revision]).toEqual([0, 0, 100_000]);

    await fork.create("/k/one-more", value);
    expect(fork.copies).toBeGreaterThan(0);
    // A path in the tree of entries and one in the log.
    expect(fork.copies).toBeLessThanOrEqual(10);
    expect(store.copies).toBe(0);
    await Promise.all([store.close(), fork.close()]);
  });

  it("keeps writes, history and compaction of parent and fork apart", async () => {
    const parent = await filled(500);
    const before = await everything(parent);
    const fork = parent.fork();
    const untouched = parent.snapshot();

    await parent.update("/k/7", Buffer.from("parent"), (await parent.get("/k/7"))?.revision ?? 0);
    await fork.delete("/k/7", (await fork.get("/k/7"))?.revision ?? 0);
    await fork.create("/fork", value);
    expect((await parent.get("/k/7"))?.value.toString()).toBe("parent");
    expect([await fork.get("/k/7"), await parent.get("/fork")]).toEqual([undefined, undefined]);
    expect([await parent.revision(), await fork.revision()]).toEqual([501, 502]);

    await fork.compact(502);
    expect((await parent.list("", { revision: 500 })).entries).toEqual(before.entries);
    const reader = new WatchReader(parent, "", 499);
    expect((await reader.changes(2)).map((change) => change.entry?.value.toString())).toEqual(["v", "parent"]);
    await reader.stop();

    const again = openMemoryStore({ clock: new VirtualClock(), from: untouched });
    expect(await everything(again)).toEqual(before);
    expect([...untouched.entries()]).toEqual(before.entries);
    await parent.close();
    expect((await fork.get("/fork"))?.createRevision).toBe(502);
    await Promise.all([fork.close(), again.close()]);
  });

  it("behaves like the model after forks too, on both sides", async () => {
    const parent = await filled(300);
    const fork = parent.fork();
    await storeProperty(fork, { numRuns: 30 });
    await storeProperty(parent, { numRuns: 30 });
    await storeProperty(fork.fork(), { numRuns: 30 });
    await Promise.all([parent.close(), fork.close()]);
  });
});

describe("memory: history", () => {
  it("forgets changes of a certain age, and then leaves no timer", async () => {
    const clock = new VirtualClock();
    const store = openMemoryStore({ clock });
    expect(clock.pending).toBe(0);
    await store.create("/a", Buffer.from("1"));
    await store.create("/b", Buffer.from("1"));
    await clock.advance(4 * 60_000);
    expect((await store.list("", { revision: 1 })).entries).toHaveLength(1);
    await clock.advance(2 * 60_000);
    await expect(store.list("", { revision: 1 })).rejects.toMatchObject({ code: "Compacted", compactRevision: 2 });
    expect((await store.list("")).entries).toHaveLength(2);
    expect(clock.pending).toBe(0);

    await store.create("/c", Buffer.from("1"));
    expect(clock.pending).toBe(1);
    await store.close();
    expect(clock.pending).toBe(0);
  });

  it("keeps no more changes and bytes than it may, however fast it is written", async () => {
    const cases = [
      { name: "changes", history: { maxChanges: 160 }, most: 170, least: 150 },
      { name: "bytes", history: { maxBytes: 16_000 }, most: 170, least: 140 },
    ];
    for (const { name, history, most, least } of cases) {
      const store = openMemoryStore({ clock: new VirtualClock(), history });
      let { revision } = { revision: 0, ...(await store.create("/a", Buffer.alloc(100))) };
      for (let i = 0; i < 1000; i++) {
        const outcome = await store.update("/a", Buffer.alloc(100), revision);
        if (outcome.ok) revision = outcome.revision;
      }
      const error = await store.list("", { revision: 1 }).catch((thrown) => thrown);
      const kept = revision - error.compactRevision;
      expect([name, kept <= most, kept >= least]).toEqual([name, true, true]);
      await store.close();
    }
  });
});
