import { describe, expect, it } from "vitest";
import { settled, VirtualClock } from "#base";
import type { Store } from "../model/store.ts";
import { Tables } from "./tables.ts";
import { openIn, scratchDir } from "./testing/scratch.ts";

async function writeOften(store: Store, key: string, times: number): Promise<void> {
  const created = await store.create(key, Buffer.from("0"));
  let revision = created.ok ? created.revision : 0;
  for (let i = 1; i < times; i++) {
    const outcome = await store.update(key, Buffer.from(`${i}`), revision);
    if (outcome.ok) revision = outcome.revision;
  }
}

/** The revisions that the log still holds. */
async function logOf(dir: string, head: number): Promise<number[]> {
  const tables = new Tables(dir);
  const kept = Array.from({ length: head }, (_, i) => i + 1).filter(
    (revision) => tables.record(revision) !== undefined,
  );
  await tables.close();
  return kept;
}

describe("compaction", () => {
  it("keeps what was current at its revision and everything later, and nothing else", async () => {
    const dir = scratchDir();
    const store = await openIn(dir);
    await writeOften(store, "/a", 3); // 1 2 3
    await writeOften(store, "/b", 2); // 4 5
    await store.delete("/b", 5); // 6
    await store.update("/a", Buffer.from("x"), 3); // 7
    await store.delete("/a", 7); // 8
    await store.create("/c", Buffer.from("y")); // 9
    const steps = [
      { to: 2, kept: [2, 3, 4, 5, 6, 7, 8, 9] },
      { to: 5, kept: [3, 5, 6, 7, 8, 9] },
      { to: 6, kept: [3, 7, 8, 9] },
      { to: 7, kept: [7, 8, 9] },
      { to: 9, kept: [9] },
    ];
    await store.close();
    for (const { to, kept } of steps) {
      const again = await openIn(dir);
      await again.compact(to);
      await again.close();
      expect(await logOf(dir, 9)).toEqual(kept);
    }
    const last = await openIn(dir);
    expect(await last.revision()).toBe(9);
    expect((await last.list("")).entries.map((entry) => entry.key)).toEqual(["/c"]);
  });

  it("works in slices while writes go on, and passes the deep check at any point", async () => {
    const dir = scratchDir();
    const store = await openIn(dir);
    await Promise.all(Array.from({ length: 60 }, (_, i) => writeOften(store, `/k/${i}`, 50)));
    const compacted = store.compact(2900);
    await Promise.all(Array.from({ length: 20 }, (_, i) => writeOften(store, `/new/${i}`, 10)));
    await compacted;
    await expect(store.list("", { revision: 2899 })).rejects.toMatchObject({ compactRevision: 2900 });
    expect((await store.list("", { revision: 2900 })).entries).toHaveLength(60);
    expect((await store.list("")).entries).toHaveLength(80);
  });

  it("follows the policy: by age", async () => {
    const clock = new VirtualClock();
    const store = await openIn(scratchDir(), { clock, history: { maxAgeMs: 60_000 } });
    await writeOften(store, "/a", 10);
    for (let minute = 0; minute < 3; minute++) {
      await clock.advance(60_000);
      await settled();
    }
    await expectCompacted(store, 10);
    expect((await store.get("/a"))?.revision).toBe(10);
  });

  it.each([
    { name: "number", history: { maxChanges: 100 }, bytes: 1 },
    { name: "size", history: { maxBytes: 100_000 }, bytes: 1000 },
  ])("follows the policy: by $name", async ({ history, bytes }) => {
    const store = await openIn(scratchDir(), { clock: new VirtualClock(), history });
    await store.create("/a", Buffer.alloc(bytes));
    for (let revision = 1; revision < 500; revision++) await store.update("/a", Buffer.alloc(bytes), revision);
    await expectCompacted(store, 300);
    expect((await store.list("/a", { revision: 490 })).entries[0]?.revision).toBe(490);
  });
});

/** Waits until lists at a revision before this one fail as Compacted. */
async function expectCompacted(store: Store, revision: number): Promise<void> {
  await expect
    .poll(() => store.list("", { revision: revision - 1 }).catch((error: unknown) => error))
    .toMatchObject({
      code: "Compacted",
    });
}
