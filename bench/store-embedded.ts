/**
 * The embedded store against bare LMDB in the same process: durable puts, a full list, watch delivery, opening after a
 * crash.
 */

import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { realClock } from "#base";
import { openStore, type Store } from "#store";

export interface ReportLine {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The same measured on what the subject is built on, and the subject's share of it. */
  readonly bound?: number;
  readonly ratio?: number;
}

const VALUE = Buffer.alloc(1024, "0123456789abcdef");
const PUTS = 15_000;
const ROUNDS = 5;
const KEYS = 100_000;

export async function run(report: (line: ReportLine) => void): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "bench-embedded-"));
  try {
    for (const writers of [32, 100]) report(await measurePuts(root, writers));
    const store = await openStore({
      kind: "embedded",
      dir: join(root, "full"),
      clock: realClock(),
      history: { maxChanges: 2 * KEYS },
    });
    await inParallel(KEYS, 500, (i) => put(store, i));
    report(await measureList(store));
    report(await measureWatch(store));
    cpSync(join(root, "full"), join(root, "crashed"), { recursive: true });
    await store.close();
    report(await measureOpen("open after a crash, 100,000 records", join(root, "crashed")));
    report(await measureOpen("open after a clean stop, 100,000 records", join(root, "full")));
  } finally {
    rmSync(root, { recursive: true });
  }
}

/**
 * The bound is bare LMDB at its better: with the store's own options, or with lmdb's default batching by event turn.
 * Rounds take turns, so that a change in the machine's mood meets all; medians count.
 */
async function measurePuts(root: string, writers: number): Promise<ReportLine> {
  const rates: Record<"sameOptions" | "batching" | "store", number[]> = { sameOptions: [], batching: [], store: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const dir = join(root, `puts-${writers}-${round}`);
    rates.sameOptions.push(await barePuts(`${dir}-same`, writers, false));
    rates.batching.push(await barePuts(`${dir}-batching`, writers, true));
    rates.store.push(await storePuts(`${dir}-store`, writers));
  }
  const bound = Math.max(median(rates.sameOptions), median(rates.batching));
  const value = median(rates.store);
  return { name: `durable puts of 1 KB, ${writers} writers`, value, unit: "puts/s", bound, ratio: value / bound };
}

async function barePuts(dir: string, writers: number, eventTurnBatching: boolean): Promise<number> {
  const options = { noSubdir: false, encoding: "binary", overlappingSync: false, eventTurnBatching } as const;
  const database = open<Buffer, string>(dir, options);
  const rate = await ratePerSecond(PUTS, writers, async (i) => {
    await database.put(keyOf(i), VALUE);
  });
  await database.close();
  return rate;
}

async function storePuts(dir: string, writers: number): Promise<number> {
  const store = await openStore({ kind: "embedded", dir, clock: realClock() });
  const rate = await ratePerSecond(PUTS, writers, (i) => put(store, i));
  await store.close();
  return rate;
}

async function measureList(store: Store): Promise<ReportLine> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    const { entries } = await store.list("/registry/");
    times.push(performance.now() - start);
    if (entries.length !== KEYS) throw new Error(`The list has ${entries.length} entries instead of ${KEYS}.`);
  }
  return { name: "list of 100,000 keys", value: median(times), unit: "ms" };
}

/** Replays what is in memory: how fast one watcher is fed. */
async function measureWatch(store: Store): Promise<ReportLine> {
  const head = await store.revision();
  const changes = 10_000;
  const rates: number[] = [];
  for (let round = 0; round < 10; round++) {
    const abort = new AbortController();
    const start = performance.now();
    let received = 0;
    for await (const batch of store.watch("/registry/", { after: head - changes, signal: abort.signal })) {
      received += batch.changes.length;
      if (received >= changes) break;
    }
    rates.push((received * 1000) / (performance.now() - start));
  }
  return { name: "watch delivery from memory, replayed", value: median(rates), unit: "changes/s" };
}

async function measureOpen(name: string, dir: string): Promise<ReportLine> {
  const start = performance.now();
  const store = await openStore({ kind: "embedded", dir, clock: realClock() });
  const value = performance.now() - start;
  await store.close();
  return { name, value, unit: "ms" };
}

async function put(store: Store, i: number): Promise<void> {
  const outcome = await store.create(keyOf(i), VALUE);
  if (!outcome.ok) throw new Error(`${keyOf(i)} exists already.`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** Spread over the key space, as names are. */
function keyOf(i: number): string {
  return `/registry/configmaps/default/name-${(i * 7919) % 1_000_003}`;
}

async function ratePerSecond(count: number, writers: number, work: (i: number) => Promise<void>): Promise<number> {
  const start = performance.now();
  await inParallel(count, writers, work);
  return (count * 1000) / (performance.now() - start);
}

async function inParallel(count: number, width: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

if (import.meta.main) await run((line) => console.log(JSON.stringify(line)));
