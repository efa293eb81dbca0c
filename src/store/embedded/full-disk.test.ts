/** A disk that runs full, for real: a small tmpfs with a ballast file on it. Needs the right to mount. */

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { isStoreError } from "../model/errors.ts";
import type { Store } from "../model/store.ts";
import { openIn, scratchDir } from "./testing/scratch.ts";

const canMount = process.platform === "linux" && process.getuid?.() === 0;

describe.skipIf(!canMount)("a full disk (needs root, to mount a tmpfs)", () => {
  it.each([
    { name: "small values", bytes: 900 },
    { name: "values over several pages", bytes: 20_000 },
  ])("rejects writes, keeps what was acknowledged, and recovers: $name", async ({ bytes }) => {
    // lmdb prints the failure of each commit.
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    onTestFinished(() => printed.mockRestore());
    const disk = smallDisk();
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, Buffer.alloc(3 * 1024 * 1024));
    const dir = join(disk, "store");
    const store = await openIn(dir);

    const acknowledged = new Map<string, number>();
    await writeUntilFull(store, bytes, acknowledged);
    expect(acknowledged.size).toBeGreaterThan(10);

    // Still full, again and again, and reading goes on.
    for (let i = 0; i < 5; i++) {
      const many = Array.from({ length: 20 }, (_, n) => store.create(`/more/${i}/${n}`, Buffer.alloc(bytes * 10)));
      for (const result of await Promise.allSettled(many)) {
        expect(result).toMatchObject({ status: "rejected", reason: { code: "Full", maybeApplied: false } });
      }
      await expectAll(store, acknowledged);
      expect(await store.count("/more/")).toBe(0);
    }

    rmSync(ballast);
    for (let i = 0; i < 20; i++) {
      const key = `/after/${i}`;
      const outcome = await store.create(key, Buffer.alloc(bytes));
      if (outcome.ok) acknowledged.set(key, outcome.revision);
    }
    await expectAll(store, acknowledged);
    await store.close();
    await expectAll(await openIn(dir), acknowledged);
  });
});

function smallDisk(): string {
  const disk = join(scratchDir(), "disk");
  mkdirSync(disk);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=12m", "tmpfs", disk], { encoding: "utf8" });
  if (mounted.status !== 0) throw new Error(`The small disk could not be mounted: ${mounted.stderr}`);
  onTestFinished(() => {
    spawnSync("umount", ["-l", disk]);
  });
  return disk;
}

async function writeUntilFull(store: Store, bytes: number, acknowledged: Map<string, number>): Promise<void> {
  for (let round = 0; round < 10_000; round++) {
    const keys = Array.from({ length: 10 }, (_, i) => `/full/${round}/${i}`);
    const results = await Promise.allSettled(keys.map((key) => store.create(key, Buffer.alloc(bytes, key))));
    for (const [i, result] of results.entries()) {
      if (result.status === "rejected" && !isStoreError(result.reason, "Full")) throw result.reason;
      if (result.status === "fulfilled" && result.value.ok) acknowledged.set(keys[i] ?? "", result.value.revision);
    }
    if (results.some(({ status }) => status === "rejected")) return;
  }
  throw new Error("The disk never became full.");
}

/** Everything acknowledged is there, and nothing that was rejected. */
async function expectAll(store: Store, acknowledged: ReadonlyMap<string, number>): Promise<void> {
  const { entries, revision } = await store.list("");
  expect(new Map(entries.map((entry) => [entry.key, entry.revision]))).toEqual(acknowledged);
  expect(revision).toBe(acknowledged.size);
}
