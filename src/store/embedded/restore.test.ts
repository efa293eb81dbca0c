import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { realClock } from "#base";
import { isStoreError } from "../model/errors.ts";
import type { Entry, Store } from "../model/store.ts";
import { writeSnapshot } from "../snapshot/snapshot-file.ts";
import { restoreEmbeddedStore } from "./restore.ts";
import { writeStamp } from "./stamp.ts";
import { fill, hashes, openIn, scratchDir } from "./testing/scratch.ts";

const clock = realClock();

async function snapshotOf(store: Store): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of writeSnapshot(store, clock)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* streamOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

async function sample(): Promise<{ store: Store; snapshot: Buffer }> {
  const store = await openIn(join(scratchDir(), "source"));
  await fill(store, 500, 30_000);
  for (let i = 0; i < 100; i++) await store.update(`/k/${i}`, Buffer.from("new"), i + 1);
  await store.delete("/k/200", 201);
  return { store, snapshot: await snapshotOf(store) };
}

const shown = ({ value, ...rest }: Entry) => ({ ...rest, bytes: value.length, crc: crc32(value) });

describe("restore", () => {
  it("gives entries their revisions back, and no history", async () => {
    const { store, snapshot } = await sample();
    const dir = join(scratchDir(), "restored");
    expect(await restoreEmbeddedStore(dir, streamOf(snapshot), { clock })).toBe(601);
    const restored = await openIn(dir);
    expect((await restored.list("")).entries.map(shown)).toEqual((await store.list("")).entries.map(shown));
    await expect(restored.list("", { revision: 600 })).rejects.toMatchObject({
      code: "Compacted",
      compactRevision: 601,
    });
    expect(await restored.update("/k/0", Buffer.from("z"), 501)).toEqual({ ok: true, revision: 602 });
    expect((await restored.list("/k/0", { revision: 601, limit: 1 })).entries[0]?.value.toString()).toBe("new");
    await restored.compact(602);
    await restored.close();
    expect((await (await openIn(dir)).get("/k/0"))?.revision).toBe(602);
  });

  it("passes the deep check", async () => {
    const { snapshot } = await sample();
    const dir = join(scratchDir(), "restored");
    await restoreEmbeddedStore(dir, streamOf(snapshot), { clock });
    writeFileSync(join(dir, "stamp.json"), "lost");
    expect(await (await openIn(dir)).count("/k/")).toBe(499);
  });

  it("starts later when revisions have been seen", async () => {
    const { snapshot } = await sample();
    const dir = join(scratchDir(), "restored");
    expect(await restoreEmbeddedStore(dir, streamOf(snapshot), { clock, revisionAtLeast: 9000 })).toBe(9000);
    const restored = await openIn(dir);
    expect(await restored.create("/new", Buffer.from("x"))).toEqual({ ok: true, revision: 9001 });
  });

  it("replaces what an interrupted creation left behind", async () => {
    const { snapshot } = await sample();
    const dir = scratchDir();
    writeStamp(dir, "creating", "01234567-89ab-4def-8123-456789abcdef");
    writeFileSync(join(dir, "data.mdb"), "half");
    await restoreEmbeddedStore(dir, streamOf(snapshot), { clock });
    expect(await (await openIn(dir)).count("/k/")).toBe(499);
  });

  it("refuses a directory with a store, and leaves it as it is", async () => {
    const { snapshot } = await sample();
    const dir = join(scratchDir(), "other");
    const other = await openIn(dir);
    await fill(other, 5, 10);
    await expect(restoreEmbeddedStore(dir, streamOf(snapshot), { clock })).rejects.toMatchObject({ code: "Locked" });
    await other.close();
    const before = hashes(dir);
    await expect(restoreEmbeddedStore(dir, streamOf(snapshot), { clock })).rejects.toThrow(/holds a store already/);
    expect(hashes(dir)).toEqual(before);
  });

  it.each([
    { name: "cut off", damage: (bytes: Buffer) => bytes.subarray(0, -20) },
    {
      name: "damaged",
      damage: (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 5000), Buffer.from("?"), bytes.subarray(5001)]),
    },
    { name: "no snapshot at all", damage: () => Buffer.from("hello") },
  ])("leaves nothing behind when the snapshot is $name", async ({ damage }) => {
    const { snapshot } = await sample();
    const dir = scratchDir();
    const error = await restoreEmbeddedStore(dir, streamOf(damage(snapshot)), { clock }).catch(
      (reason: unknown) => reason,
    );
    expect(isStoreError(error, "Corrupt")).toBe(true);
    expect(readdirSync(dir).filter((name) => name !== "lock")).toEqual([]);
    expect(existsSync(join(dir, "data.mdb"))).toBe(false);
    expect(await (await openIn(dir)).revision()).toBe(0);
  });
});
