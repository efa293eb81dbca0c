import { Readable } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { type MemoryStore, openMemoryStore, restoreMemoryStore } from "../memory/index.ts";
import { readSnapshot, verifySnapshot, writeSnapshot } from "./snapshot-file.ts";

const clock = new VirtualClock();

async function filled(count: number): Promise<MemoryStore> {
  const store = openMemoryStore({ clock });
  for (let i = 0; i < count; i++) await store.create(`/k/${String(i).padStart(4, "0")}`, Buffer.from(`value ${i}`));
  return store;
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(source));
}

async function* chunked(file: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += size) yield file.subarray(at, at + size);
}

describe("snapshot file", () => {
  it("brings back every entry with its revisions, and continues them", async () => {
    const store = await filled(5);
    await store.update("/k/0001", Buffer.alloc(0), 2);
    await store.delete("/k/0002", 3);
    await store.create("/é/😀", Buffer.alloc(100_000, 7));
    await store.create("/é/\uffff", Buffer.from("x"));
    const file = await collect(writeSnapshot(store, clock));

    const restored = await restoreMemoryStore(chunked(file, 1000), { clock });
    expect(await restored.list("")).toEqual(await store.list(""));
    expect(await restored.revision()).toBe(9);
    await expect(restored.list("", { revision: 8 })).rejects.toMatchObject({ code: "Compacted", compactRevision: 9 });
    expect(await restored.create("/new", Buffer.from("x"))).toEqual({ ok: true, revision: 10 });
    await Promise.all([store.close(), restored.close()]);
  });

  it.each([0, 1, 199, 200, 201, 1000])("holds %i entries, whatever the size of the chunks", async (count) => {
    const store = await filled(count);
    const file = await collect(writeSnapshot(store, clock));
    for (const size of [1, 7, 64 * 1024]) {
      const summary = await verifySnapshot(chunked(file, size));
      expect(summary).toEqual({ revision: count, createdMs: clock.now(), count });
    }
    await store.close();
  });

  it("shows one revision although writes go on", async () => {
    const store = await filled(1000);
    const before = await store.list("");
    const chunks: Buffer[] = [];
    for await (const chunk of writeSnapshot(store, clock)) {
      chunks.push(chunk);
      const turn = chunks.length;
      await store.create(`/k/0${turn}-new`, Buffer.from("x"));
      await store.delete(`/k/0${turn}50`, (await store.get(`/k/0${turn}50`))?.revision ?? 0);
      await store.update("/k/0999", Buffer.from(`${turn}`), (await store.get("/k/0999"))?.revision ?? 0);
    }
    const { revision, entries } = await readSnapshot(chunked(Buffer.concat(chunks), 4096));
    expect({ revision, entries: await Array.fromAsync(entries), more: false }).toEqual(before);
    await store.close();
  });

  it("passes through gzip", async () => {
    const store = await filled(300);
    const packed = await collect(Readable.from(writeSnapshot(store, clock)).pipe(createGzip()));
    const restored = await restoreMemoryStore(Readable.from([packed]).pipe(createGunzip()), { clock });
    expect(await restored.list("")).toEqual(await store.list(""));
    await Promise.all([store.close(), restored.close()]);
  });

  it("starts at a later revision where clients have seen one", async () => {
    const store = await filled(3);
    const file = await collect(writeSnapshot(store, clock));
    for (const { revisionAtLeast, want } of [
      { revisionAtLeast: 2, want: 3 },
      { revisionAtLeast: 50, want: 50 },
    ]) {
      const restored = await restoreMemoryStore(chunked(file, 100), { clock, revisionAtLeast });
      expect(await restored.revision()).toBe(want);
      expect((await restored.get("/k/0000"))?.revision).toBe(1);
      expect(await restored.create("/new", Buffer.from("x"))).toEqual({ ok: true, revision: want + 1 });
      await restored.close();
    }
    await store.close();
  });

  it("fails for a file that is cut off anywhere", async () => {
    const store = await filled(3);
    const file = await collect(writeSnapshot(store, clock));
    for (let length = 0; length < file.length; length++) {
      const cut = verifySnapshot(chunked(file.subarray(0, length), 64));
      await expect(cut, `${length} bytes`).rejects.toMatchObject({ name: "StoreError", code: "Corrupt" });
    }
    await store.close();
  });

  it("fails for a file with any bit turned over", async () => {
    const store = await filled(3);
    const file = await collect(writeSnapshot(store, clock));
    for (let bit = 0; bit < file.length * 8; bit++) {
      const damaged = Buffer.from(file);
      damaged[bit >>> 3] = (damaged[bit >>> 3] ?? 0) ^ (1 << (bit & 7));
      const code = bit >>> 3 >= 8 && bit >>> 3 < 12 ? /Corrupt|NewerFormat/ : /Corrupt/;
      const error = await verifySnapshot(chunked(damaged, 64)).then(
        () => expect.fail(`bit ${bit} made no difference`),
        (thrown) => thrown,
      );
      expect(error).toMatchObject({ name: "StoreError", code: expect.stringMatching(code) });
    }
    await store.close();
  });

  it("says in one sentence what is wrong", async () => {
    const store = await filled(1);
    const file = await collect(writeSnapshot(store, clock));
    const newer = Buffer.from(file);
    newer.writeUInt32BE(2, 8);
    const huge = Buffer.from(file);
    huge.writeUInt32BE(0xffff_ffff, 28 + 5);
    const cases = [
      { file: Buffer.from("{}"), want: "This is no snapshot: it does not begin like one." },
      { file: file.subarray(0, -1), want: "The snapshot is damaged: its end is missing." },
      { file: Buffer.concat([file, Buffer.from("x")]), want: "The snapshot is damaged: something follows its end." },
      { file: huge, want: "The snapshot is damaged: an entry has an impossible length." },
      {
        file: newer,
        want: "The snapshot was written by a newer version, in format 2: this version reads formats up to 1.",
      },
    ];
    for (const { file, want } of cases) await expect(verifySnapshot(chunked(file, 64))).rejects.toThrow(want);
    await store.close();
  });

  it("lets go of its source when reading ends early", async () => {
    const store = await filled(500);
    const file = await collect(writeSnapshot(store, clock));
    let released = 0;
    async function* source(content: Uint8Array): AsyncGenerator<Uint8Array> {
      try {
        yield* chunked(content, 64);
      } finally {
        released++;
      }
    }
    for await (const _ of (await readSnapshot(source(file))).entries) break;
    expect(released).toBe(1);
    await expect(readSnapshot(source(Buffer.alloc(1000)))).rejects.toThrow("no snapshot");
    expect(released).toBe(2);
    await store.close();
  });
});
