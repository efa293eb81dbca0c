import { closeSync, constants, openSync, readdirSync, readFileSync, readlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createJournal, JOURNAL_BYTES, Journal, type JournalEnd, readJournal } from "./journal.ts";
import type { LogRecord } from "./records.ts";
import { scratchDir } from "./testing/scratch.ts";

const STORE_ID = "01234567-89ab-4def-8123-456789abcdef";
const HALF = JOURNAL_BYTES / 2;

function newPath(): string {
  const path = join(scratchDir(), "journal");
  createJournal(path);
  return path;
}

function opened(path: string, end?: JournalEnd): Journal {
  const journal = new Journal(path, STORE_ID, end);
  onTestFinished(() => journal.close());
  return journal;
}

function batch(first: number, count: number, valueBytes = 100): readonly LogRecord[] {
  return Array.from({ length: count }, (_, i) => ({
    revision: first + i,
    key: `/k/${first + i}`,
    value: i % 5 === 4 ? undefined : Buffer.alloc(valueBytes, `${first + i} `),
    createRevision: i % 5 === 4 ? first : first + i,
    previousRevision: i % 5 === 4 ? first : 0,
  }));
}

async function append(journal: Journal, records: readonly LogRecord[]): Promise<number> {
  const frame = journal.frame(records);
  if (frame === undefined) throw new Error("The frame is too large.");
  await journal.append(frame, records.at(-1)?.revision ?? 0);
  return frame.length;
}

const read = (path: string, after: number) => readJournal(path, STORE_ID, after)?.records;
const revisions = (records: readonly LogRecord[] | undefined) => records?.map(({ revision }) => revision);

describe("the journal", () => {
  it("gives back what was written, after any revision", async () => {
    const path = newPath();
    const journal = opened(path);
    const batches = [batch(8, 3), batch(11, 1), batch(12, 20)];
    for (const records of batches) await append(journal, records);
    const all = batches.flat();
    for (let after = 7; after <= 31; after++)
      expect(read(path, after)).toEqual(all.filter(({ revision }) => revision > after));
    expect(read(path, 100)).toEqual([]);
  });

  it("is empty when it is new", () => {
    expect(read(newPath(), 0)).toEqual([]);
  });

  it.skipIf(process.platform !== "linux")("is opened so that each write is flushed (Linux tells)", () => {
    const path = newPath();
    opened(path);
    const mine = readdirSync("/proc/self/fd").filter((fd) => linkOf(fd) === path);
    expect(mine).toHaveLength(1);
    const [, flags = ""] = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${mine[0]}`, "utf8")) ?? [];
    expect(Number.parseInt(flags, 8) & constants.O_DSYNC).toBe(constants.O_DSYNC);
  });

  it("tells of a gap", async () => {
    const path = newPath();
    const journal = opened(path);
    await append(journal, batch(5, 3));
    expect(read(path, 3)).toBeUndefined();
    await append(journal, batch(10, 3));
    expect(read(path, 4)).toBeUndefined();
    expect(revisions(read(path, 9))).toEqual([10, 11, 12]);
  });

  it("holds nothing of another store", async () => {
    const path = newPath();
    await append(opened(path), batch(1, 3));
    expect(readJournal(path, STORE_ID.replace("0", "1"), 0)?.records).toEqual([]);
  });

  it("fills its halves in turn, and waits for what would be overwritten", async () => {
    const path = newPath();
    const journal = opened(path);
    let next = 1;
    let waits = 0;
    const newest: number[] = [];
    while (newest.length < 6) {
      const records = batch(next, 50, 1000);
      const frame = journal.frame(records) ?? Buffer.alloc(0);
      const needed = journal.waitsFor(frame);
      if (needed > waits) {
        // The half before is complete: all but what is needed is still there.
        expect(revisions(read(path, needed))).toEqual(range(needed + 1, next - 1));
        waits = needed;
        newest.push(needed);
      }
      await journal.append(frame, next + 49);
      next += 50;
      expect(revisions(read(path, waits))).toEqual(range(waits + 1, next - 1));
    }
    expect(newest).toEqual(newest.toSorted((a, b) => a - b));
    expect(readFileSync(path).length).toBe(JOURNAL_BYTES);
  });

  it("begins anew over what was there", async () => {
    const path = newPath();
    const before = opened(path);
    for (let first = 1; first < 200; first += 10) await append(before, batch(first, 10, 3000));
    await append(opened(path), batch(201, 2, 3000));
    expect(revisions(read(path, 200))).toEqual([201, 202]);
  });

  it("is gone on with where a crash left it, in either half", async () => {
    const path = newPath();
    let journal = opened(path);
    let applied = 0;
    for (let first = 1; first < 6000; first += 30) {
      const records = batch(first, 30, 1000);
      applied = Math.max(applied, journal.waitsFor(journal.frame(records) ?? Buffer.alloc(0)));
      await append(journal, records);
      if (first % 7 !== 0) continue;
      const left = readJournal(path, STORE_ID, applied);
      expect(revisions(left?.records)).toEqual(range(applied + 1, first + 29));
      journal = opened(path, left?.end);
    }
    expect(applied).toBeGreaterThan(2000);
  });

  it("takes no frame that is larger than a half", async () => {
    const journal = opened(newPath());
    expect(journal.frame(batch(1, 1, HALF))).toBeUndefined();
    expect(journal.frame(batch(1, 1, HALF - 1000))).toBeDefined();
  });

  it.each([
    { name: "zeros", filler: Buffer.alloc(HALF) },
    { name: "garbage", filler: Buffer.alloc(HALF, "garbage!") },
  ])("keeps whole frames when the last one was cut anywhere: $name", async ({ filler }) => {
    const path = newPath();
    const journal = opened(path);
    const start = (await append(journal, batch(1, 5))) + (await append(journal, batch(6, 5)));
    const end = start + (await append(journal, batch(11, 5)));
    const whole = readFileSync(path).subarray(0, 2 * end);
    for (let at = start; at < end; at += 1 + (at % 3)) {
      overwrite(path, Buffer.concat([whole.subarray(0, at), filler.subarray(at, 2 * end)]));
      expect(revisions(read(path, 0))).toEqual(range(1, 10));
    }
  });

  it("takes no frame in which a byte has changed", async () => {
    const path = newPath();
    const journal = opened(path);
    const end = await append(journal, batch(1, 3));
    const whole = readFileSync(path).subarray(0, end);
    for (let at = 0; at < end; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      overwrite(path, changed);
      expect(read(path, 0)).toEqual([]);
    }
  });
});

function overwrite(path: string, bytes: Buffer): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, 0);
  closeSync(file);
}

/** Undefined for a descriptor that is closed by now. */
function linkOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

function range(from: number, through: number): number[] {
  return Array.from({ length: through - from + 1 }, (_, i) => from + i);
}
