/**
 * The state of a cluster from its embedded store to etcd and back: how long 100,000 objects take. What is there
 * afterwards is compared with what was there before: objects, their uids, and the order of their versions.
 *
 *     K8TS_BENCH_OBJECTS=1000 npm run bench -- migration
 */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type Clock, realClock, uuidSource } from "../src/base/index.ts";
import { dataDir, prepareDataDir } from "../src/cluster/data/data-dir.ts";
import { migrate } from "../src/cluster/etcd/index.ts";
import { openStore, type Store } from "../src/store/index.ts";
import { findEtcd } from "../src/store/testing/etcd-server.ts";
import type { Figure } from "./run.ts";

const OBJECTS = Number(process.env.K8TS_BENCH_OBJECTS ?? 100_000);
const PADDING = "x".repeat(700);
const LANES = 64;

export async function run(report: (figure: Figure) => void): Promise<void> {
  const clock = realClock();
  process.env.PATH = [process.env.PATH, dirname(findEtcd() ?? "")].join(delimiter);
  const dir = dataDir(mkdtempSync(join(tmpdir(), "bench-migration-")));
  try {
    await prepareDataDir(dir);
    const before = await filled(dir.store, clock);
    const timed = async (name: string, to: Parameters<typeof migrate>[1]) => {
      const start = performance.now();
      const { objects } = await migrate(dir, to, { clock });
      const seconds = (performance.now() - start) / 1000;
      if (objects !== OBJECTS) throw new Error(`${name}: ${objects} of ${OBJECTS} objects were moved.`);
      report({ name, value: seconds, unit: "s" });
      report({ name: "the same, objects", value: objects / seconds, unit: "/s" });
    };
    await timed(`${OBJECTS} objects of 1 kB, embedded to etcd`, { kind: "etcd", endpoints: [], managed: {} });
    await timed("etcd to embedded", { kind: "embedded" });
    const store = await openStore({ kind: "embedded", dir: dir.store, clock });
    const after = await summary(store).finally(() => store.close());
    if (after !== before) throw new Error("The objects, or the order of their versions, are others than before.");
  } finally {
    rmSync(dir.path, { recursive: true, force: true });
  }
}

/** A tenth is written again, so that the order of versions is not that of the keys. */
async function filled(dir: string, clock: Clock): Promise<string> {
  const store = await openStore({ kind: "embedded", dir, clock });
  const uuid = uuidSource();
  const key = (number: number) => `/registry/core/configmaps/ns-${number % 100}/c${number}`;
  const value = (number: number, version: number) => {
    const metadata = { name: `c${number}`, namespace: `ns-${number % 100}`, uid: uuid() };
    return Buffer.from(JSON.stringify({ kind: "ConfigMap", metadata, data: { version: `${version}`, PADDING } }));
  };
  try {
    let next = 0;
    const lane = async () => {
      for (let number = next++; number < OBJECTS; number = next++) {
        const created = await store.create(key(number), value(number, 1));
        if (!created.ok) throw new Error(`${key(number)} is there already.`);
        if (number % 10 === 0) await store.update(key(number), value(number, 2), created.revision);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return await summary(store);
  } finally {
    await store.close();
  }
}

/** A digest of all keys and values, in the order of their versions. */
async function summary(store: Store): Promise<string> {
  const hash = createHash("sha256");
  const { entries } = await store.list("");
  if (entries.length !== OBJECTS) throw new Error(`There are ${entries.length} objects of ${OBJECTS}.`);
  for (const entry of entries.toSorted((a, b) => a.revision - b.revision))
    hash.update(`${entry.key}\n${entry.value.length}\n`).update(entry.value);
  return hash.digest("hex");
}
