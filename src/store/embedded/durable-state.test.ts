import { cpSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLogger, realClock, seededRandom } from "#base";
import { StoreError } from "../model/errors.ts";
import type { Store } from "../model/store.ts";
import { DurableState } from "./durable-state.ts";
import { createJournal, JOURNAL_BYTES, Journal } from "./journal.ts";
import { openEmbeddedStore } from "./open.ts";
import type { LogRecord } from "./records.ts";
import { type Batch, Tables } from "./tables.ts";
import { openIn, scratchDir } from "./testing/scratch.ts";

const STORE_ID = "01234567-89ab-4def-8123-456789abcdef";

/** Commits fail, or wait, when the test says so. */
class TestedTables extends Tables {
  failure: StoreError | undefined;
  held: Promise<void> | undefined;
  readonly batches: Batch[] = [];

  override async commit(batch: Batch): Promise<void> {
    this.batches.push(batch);
    await this.held;
    if (this.failure !== undefined) throw this.failure;
    await super.commit(batch);
  }
}

function setUp() {
  const dir = scratchDir();
  const path = join(dir, "journal");
  createJournal(path);
  const tables = new TestedTables(dir);
  const state = { head: 0, compacted: 0, format: 2, storeId: STORE_ID };
  const logged: string[] = [];
  const log = createLogger({ write: (line) => logged.push(line), format: "json", level: "warn", clock: realClock() });
  const durable = new DurableState({ tables, journal: new Journal(path, STORE_ID), state, log });
  let head = 0;
  /** Writes keys with values; without a value: deletes. */
  const write = async (...changes: readonly (readonly [key: string, value?: string | Buffer])[]) => {
    const added: LogRecord[] = [];
    for (const [key, value] of changes) {
      const before = added.findLast((record) => record.key === key) ?? durable.index(key);
      const revision = head + added.length + 1;
      const createRevision = before?.createRevision ?? revision;
      const bytes = value === undefined ? undefined : Buffer.from(value);
      added.push({ revision, key, value: bytes, createRevision, previousRevision: before?.revision ?? 0 });
    }
    await durable.commit(added);
    durable.show(added);
    head += added.length;
  };
  /** Until the tables hold everything. */
  const applied = () => durable.maintain(({ compacted }) => ({ dropped: [], compacted }));
  return { tables, durable, write, applied, logged, head: () => head };
}

const full = new StoreError("Full", "No space.");
const broken = new StoreError("Unavailable", "The disk fails.");
const keys = (durable: DurableState, prefix: string, after?: string) =>
  [...durable.entries(prefix, after)].map(({ key, value }) => `${key}=${value.toString()}`);

describe("what is durable", () => {
  it("is read from the journal's records and the tables as one", async () => {
    const { tables, durable, write, applied } = setUp();
    onTestFinished(() => void durable.close());
    await write(["/a/1", "one"], ["/a/2", "two"], ["/a/3", "three"], ["/b/1", "b"]);
    await applied();
    await write(["/a/2", "TWO"], ["/a/3"], ["/a/0", "zero"], ["/a/4", "four"]);
    await write(["/a/4"], ["/b/2", "B"]);
    expect(tables.batches).toHaveLength(1);

    expect(keys(durable, "/a/")).toEqual(["/a/0=zero", "/a/1=one", "/a/2=TWO"]);
    expect(keys(durable, "/a/", "/a/0")).toEqual(["/a/1=one", "/a/2=TWO"]);
    expect(keys(durable, "")).toEqual(["/a/0=zero", "/a/1=one", "/a/2=TWO", "/b/1=b", "/b/2=B"]);
    expect([durable.count("/a/"), durable.count(""), durable.count("/c/")]).toEqual([3, 5, 0]);
    expect(durable.entry("/a/2")).toMatchObject({ createRevision: 2, revision: 5 });
    expect(durable.entry("/a/3")).toBeUndefined();
    expect(durable.index("/a/1")).toEqual({ createRevision: 1, revision: 1 });
    expect(durable.index("/a/4")).toBeUndefined();
    expect([durable.record(2)?.key, durable.record(6)?.value, durable.record(11)]).toEqual([
      "/a/2",
      undefined,
      undefined,
    ]);
    expect([...durable.records(3, 9)].map(({ revision }) => revision)).toEqual([3, 4, 5, 6, 7, 8, 9]);
    expect([...durable.records(7, 8)].map(({ revision }) => revision)).toEqual([7, 8]);
  });

  it("is applied to the tables in slices, and reads notice nothing", async () => {
    const { tables, durable, write } = setUp();
    onTestFinished(() => void durable.close());
    const hold = Promise.withResolvers<void>();
    tables.held = hold.promise;
    for (let i = 0; i < 2500; i++) await write([`/k/${i % 700}`, `${i}`]);
    expect(tables.batches.length).toBe(1);
    const seen = () => [durable.count("/k/"), durable.entry("/k/3")?.revision, keys(durable, "/k/69").join()];
    const before = seen();
    expect(before.slice(0, 2)).toEqual([700, 2104]);
    hold.resolve();
    await expect.poll(() => tables.record(1000)?.revision, { interval: 1 }).toBe(1000);
    expect(seen()).toEqual(before);
    expect(Math.max(...tables.batches.map(({ added }) => added.length))).toBe(500);
  });

  it("lets a writer wait only when the journal has no room", async () => {
    const { tables, durable, write, head } = setUp();
    onTestFinished(() => void durable.close());
    const hold = Promise.withResolvers<void>();
    tables.held = hold.promise;
    const value = Buffer.alloc(100_000, "x");
    const atOnce = Math.floor(JOURNAL_BYTES / 2 / 100_100) * 2;
    for (let i = 0; i < atOnce; i++) await write([`/k/${i}`, value]);
    const one = write(["/last", value]);
    expect(
      await Promise.race([
        one.then(() => "written"),
        realClock()
          .sleep(50)
          .then(() => "waits"),
      ]),
    ).toBe("waits");
    hold.resolve();
    await one;
    expect(head()).toBe(atOnce + 1);
    expect(durable.count("/k/")).toBe(atOnce);
  });

  it("goes on while the tables find no space, until the journal is full as well", async () => {
    const { tables, durable, write, applied, logged } = setUp();
    tables.failure = full;
    const value = Buffer.alloc(50_000, "x");
    let written = 0;
    const failed = await (async () => {
      for (; ; written++) await write([`/k/${written}`, value]);
    })().catch((error: unknown) => error);
    expect(failed).toBe(full);
    expect(written).toBeGreaterThan(JOURNAL_BYTES / 50_000 - 5);
    await expect(applied()).rejects.toBe(full);
    await expect(write(["/more", value])).rejects.toBe(full);
    expect(durable.count("/k/")).toBe(written);
    expect(logged).toEqual([expect.stringContaining("No space.")]);
    tables.failure = undefined;
    await write(["/more", value]);
    expect(durable.count("/")).toBe(written + 1);
    tables.failure = full;
    await expect(applied()).rejects.toBe(full);
    expect(logged).toHaveLength(2);
    tables.failure = undefined;
    expect(await durable.close()).toBe(true);
  });

  it("takes nothing more after any other failure, and is not closed cleanly", async () => {
    const { tables, durable, write, applied } = setUp();
    await write(["/a", "1"]);
    tables.failure = broken;
    for (const step of await Promise.allSettled([applied(), applied()])) expect(step).toMatchObject({ reason: broken });
    await expect(write(["/b", "2"])).rejects.toBe(broken);
    await expect(applied()).rejects.toBe(broken);
    expect(keys(durable, "/")).toEqual(["/a=1"]);
    expect(await durable.close()).toBe(false);
  });

  it("is left to the journal when the tables have no space at the end", async () => {
    const { tables, durable, write } = setUp();
    await write(["/a", "1"]);
    tables.failure = full;
    expect(await durable.close()).toBe(false);
  });

  it("takes in maintenance with what it applies", async () => {
    const { tables, durable, write } = setUp();
    await write(["/a", "1"], ["/a", "2"], ["/a", "3"]);
    await durable.maintain(({ head }) => ({ dropped: [1], compacted: head - 1 }));
    expect(tables.batches).toHaveLength(1);
    expect(tables.batches[0]).toMatchObject({ dropped: [1], state: { head: 3, compacted: 2 } });
    expect([durable.compacted, durable.record(1), durable.record(2)?.revision]).toEqual([2, undefined, 2]);

    const failure = new Error("damaged");
    const step = durable.maintain(() => {
      throw failure;
    });
    await expect(step).rejects.toBe(failure);
    await write(["/b", "4"]);
    expect(await durable.close()).toBe(true);
    await expect(durable.maintain(({ compacted }) => ({ dropped: [], compacted }))).rejects.toMatchObject({
      code: "Closed",
    });
  });
});

describe("a crash", () => {
  it("leaves what was acknowledged, wherever it is, whatever came before", async () => {
    const dir = join(scratchDir(), "store");
    const store = await openIn(dir);
    const random = seededRandom(11);
    const model = new Map<string, { revision: number; text: string }>();
    for (let round = 0; round < 12; round++) {
      for (let i = 0; i < 40; i++) await writeRandomly(store, model, random);
      if (round % 4 === 1) await createLarge(store, model, `/large/${round}`);
      if (round % 4 === 3) await store.compact((await store.revision()) - 20);
      const copy = join(scratchDir(), "copy");
      cpSync(dir, copy, { recursive: true, filter: (path) => !path.includes("lock") });
      const again = await openEmbeddedStore({ dir: copy, clock: realClock() });
      expect(await again.revision()).toBe(await store.revision());
      expect(await stateOf(again)).toEqual(model);
      expect(await again.create(`/after/${round}`, Buffer.from("x"))).toMatchObject({ ok: true });
      await again.close();
    }
  });
});

type Model = Map<string, { revision: number; text: string }>;

async function writeRandomly(store: Store, model: Model, random: ReturnType<typeof seededRandom>): Promise<void> {
  const batch = Array.from({ length: 1 + random.integer(8) }, () => `/k/${random.integer(60)}`);
  await Promise.all(
    [...new Set(batch)].map(async (key) => {
      const before = model.get(key);
      const text = `${key} `.repeat(1 + random.integer(before === undefined ? 2000 : 200));
      if (before !== undefined && random.next() < 0.3) {
        await store.delete(key, before.revision);
        model.delete(key);
        return;
      }
      const value = Buffer.from(text);
      const outcome = await (before === undefined
        ? store.create(key, value)
        : store.update(key, value, before.revision));
      if (!outcome.ok) throw new Error(`${key} has one writer, and yet a write was refused.`);
      model.set(key, { revision: outcome.revision, text });
    }),
  );
}

/** Larger than the journal takes. */
async function createLarge(store: Store, model: Model, key: string): Promise<void> {
  const text = "large".repeat(JOURNAL_BYTES / 8);
  const outcome = await store.create(key, Buffer.from(text));
  if (outcome.ok) model.set(key, { revision: outcome.revision, text });
}

async function stateOf(store: Store): Promise<Model> {
  const { entries } = await store.list("");
  return new Map(entries.map(({ key, revision, value }) => [key, { revision, text: value.toString() }]));
}
