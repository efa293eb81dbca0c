/**
 * The embedded store beside three etcd members with TLS: creations per second and their latency, in turns; and how long
 * three members take no write when their leader is killed, and after a lost quorum is back.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, realClock } from "../src/base/index.ts";
import { openStore, type Store } from "../src/store/index.ts";
import { type EtcdServer, startEtcd } from "../src/store/testing/etcd-server.ts";
import type { Figure } from "./run.ts";

const LANES = 32;
const CREATES = 4000;
/** The stores take turns, so that other load falls on both. */
const ROUNDS = 4;
const VALUE = Buffer.alloc(1000, "x");

export async function run(report: (figure: Figure) => void): Promise<void> {
  const clock = realClock();
  const dir = mkdtempSync(join(tmpdir(), "bench-embedded-"));
  const etcd = await startEtcd({ members: 3, tls: true, dir: mkdtempSync(join(tmpdir(), "bench-etcd-")) });
  const embedded = await openStore({ kind: "embedded", dir, clock });
  const members = await openEtcd(etcd, clock);
  try {
    const stores = [
      { name: "embedded", store: embedded },
      { name: "three etcd members", store: members },
    ];
    for (const lanes of [LANES, 1]) {
      const runs = stores.map((each) => ({ ...each, latencies: [] as number[], seconds: 0 }));
      for (let round = 0; round < ROUNDS; round++)
        for (const run of runs) run.seconds += await creates(run.store, `${lanes}/${round}`, lanes, run.latencies);
      for (const run of runs) told(run, lanes, report);
    }
    await outages(etcd, members, clock, report);
  } finally {
    await Promise.all([embedded.close(), members.close()]);
    await etcd.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

function openEtcd({ endpoints, tls }: EtcdServer, clock: Clock): Promise<Store> {
  return openStore({ kind: "etcd", endpoints, ...(tls && { tls }), clock, compactionIntervalMs: 0 });
}

/** Returns how many seconds it took. */
async function creates(store: Store, name: string, lanes: number, latencies: number[]): Promise<number> {
  const count = (lanes === 1 ? CREATES / 8 : CREATES) / ROUNDS;
  const start = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const before = performance.now();
      await store.create(`/bench/${name}/${next++}`, VALUE);
      latencies.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return (performance.now() - start) / 1000;
}

interface Run {
  readonly name: string;
  readonly latencies: readonly number[];
  readonly seconds: number;
}

function told({ name, latencies, seconds }: Run, lanes: number, report: (figure: Figure) => void): void {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(part * sorted.length)] ?? 0;
  const label = `${name}, ${lanes} at a time`;
  report({ name: `creates, ${label}`, value: latencies.length / seconds, unit: "/s" });
  report({ name: `latency of a create, ${label}, median`, value: at(0.5), unit: "ms" });
  report({ name: `the same, 99th percentile`, value: at(0.99), unit: "ms" });
}

async function outages(etcd: EtcdServer, store: Store, clock: Clock, report: (figure: Figure) => void): Promise<void> {
  const leader = (await etcd.leader()) ?? 0;
  await etcd.kill(leader);
  report({ name: "without a write after the leader was killed", value: await untilWrite(store, "killed"), unit: "ms" });
  etcd.restart(leader);
  await etcd.healthy();
  const gone = [0, 1];
  await Promise.all(gone.map((member) => etcd.kill(member)));
  await store.create("/bench/lost", VALUE).catch(() => {});
  for (const member of gone) etcd.restart(member);
  const writing = untilWrite(store, "back");
  const start = performance.now();
  while ((await etcd.leader()) === undefined) await clock.sleep(20);
  const leaderMs = performance.now() - start;
  const writeMs = await writing;
  report({ name: "two of three come back: until they have a leader", value: leaderMs, unit: "ms" });
  report({ name: "the same, until the first write", value: writeMs, unit: "ms" });
}

async function untilWrite(store: Store, name: string): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < 100; i++) {
    const isWritten = await store.create(`/bench/${name}/${i}`, VALUE).then(
      () => true,
      () => false,
    );
    if (isWritten) return performance.now() - start;
  }
  throw new Error("No write succeeded.");
}
