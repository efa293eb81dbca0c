/**
 * `k8ts migrate`: the state of a stopped cluster moves from its embedded store to an etcd, or back.
 *
 *     source ──► snapshot stream ──► target ──► compare the two ──► store.json names the target
 *
 * 1. The source is only read. Until store.json is replaced, as the last step, it is in use: whatever breaks before, the
 *    next start is as if nothing had been tried, and the next migration begins anew.
 * 2. Nothing is believed: before the switch, the target is read back and compared, with the order of its revisions.
 * 3. Revisions of the target are higher than all of the source.
 */
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { importIntoEtcd, openStore, readSnapshot, restoreStore, type Store, writeSnapshot } from "#store";
import type { StoreConfig } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { storeSpec } from "../config/store-spec.ts";
import type { DataDir } from "../data/data-dir.ts";
import { writeStoreRecord } from "../data/store-record.ts";
import { memberPaths } from "./record.ts";
import { openStoppedStore, type Stopped, startMember, storeOf, withMember } from "./stopped-store.ts";

const PAGE = 1000;

export interface Migrated {
  readonly objects: number;
  readonly revision: number;
}

export interface MigrateOptions extends Stopped {
  readonly onProgress?: ((written: number, of: number) => void) | undefined;
}

/** The caller holds the lock of the data directory. */
export async function migrate(dir: DataDir, to: StoreConfig, options: MigrateOptions): Promise<Migrated> {
  const from = await storeOf(dir);
  if (from === undefined) throw new ClusterError(`${dir.path} has no state to migrate: no cluster has run there.`);
  if (from.kind === to.kind)
    throw new ClusterError(
      `The state of this cluster is in ${from.kind === "etcd" ? "etcd" : "its embedded store"} already.`,
    );
  const source = await openStoppedStore(dir, from, options);
  try {
    const migrated =
      to.kind === "etcd" ? await intoEtcd(dir, source, to, options) : await intoEmbedded(dir, source, options);
    await writeStoreRecord(dir, to);
    return migrated;
  } finally {
    await source.close();
  }
}

async function intoEtcd(
  dir: DataDir,
  source: Store,
  to: StoreConfig & { readonly kind: "etcd" },
  options: MigrateOptions,
): Promise<Migrated> {
  const { clock, onProgress } = options;
  const import_ = async (config: StoreConfig): Promise<Migrated> => {
    const spec = storeSpec(config);
    if (spec.kind !== "etcd") throw new TypeError("The target is no etcd.");
    const snapshot = await readSnapshot(writeSnapshot(source, clock));
    const { count, revision } = await importIntoEtcd(snapshot, { ...spec, clock, onProgress });
    const target = await openStore({ ...spec, clock });
    await compare(source, target).finally(() => target.close());
    return { objects: count, revision };
  };
  if (to.managed === undefined) return import_(to);
  await withEmptyMember(dir, options);
  const member = await startMember(dir, to, options, { ordered: true });
  try {
    const migrated = await import_(withMember(to, member));
    await rm(unfinished(dir));
    return migrated;
  } finally {
    await member.stop();
  }
}

async function intoEmbedded(dir: DataDir, source: Store, { clock }: MigrateOptions): Promise<Migrated> {
  const fresh = `${dir.store}.migrated`;
  await rm(fresh, { recursive: true, force: true });
  const revision = await restoreStore(fresh, writeSnapshot(source, clock), { clock });
  const target = await openStore({ kind: "embedded", dir: fresh, clock });
  const objects = await compare(source, target).finally(() => target.close());
  await replaced(dir.store, clock.now());
  await rename(fresh, dir.store);
  return { objects, revision };
}

/** Data of an earlier etcd are kept beside; those of a migration that did not end are worth nothing. */
export async function withEmptyMember(dir: DataDir, { clock }: Stopped): Promise<void> {
  const { data, record } = memberPaths(dir.etcd);
  if (existsSync(unfinished(dir))) await rm(data, { recursive: true, force: true });
  else await replaced(data, clock.now());
  await rm(record, { force: true });
  await mkdir(dir.etcd, { recursive: true, mode: 0o700 });
  await writeFile(unfinished(dir), "");
}

export function unfinished(dir: DataDir): string {
  return join(dir.etcd, "unfinished");
}

export async function replaced(path: string, nowMs: number): Promise<void> {
  if (existsSync(path)) await rename(path, `${path}.replaced-${new Date(nowMs).toISOString()}`);
}

/** Throws unless both have the same keys and values, written in the same order. Returns how many. */
export async function compare(source: Store, target: Store): Promise<number> {
  const orders: { readonly before: number; readonly after: number }[] = [];
  const [befores, afters] = [entriesOf(source), entriesOf(target)];
  for (;;) {
    const [a, b] = await Promise.all([befores.next(), afters.next()]);
    if (a.done === true && b.done === true) break;
    if (a.done === true || b.done === true || a.value.key !== b.value.key || !a.value.value.equals(b.value.value)) {
      const key = (a.value ?? b.value)?.key;
      throw new ClusterError(`The two stores differ at ${key}: the cluster still uses the old one.`);
    }
    orders.push({ before: a.value.revision, after: b.value.revision });
  }
  orders.sort((a, b) => a.before - b.before);
  for (const [i, { after }] of orders.entries()) {
    if (after <= (orders[i - 1]?.after ?? 0))
      throw new ClusterError(
        "The revisions of the new store are in another order: the cluster still uses the old one.",
      );
  }
  const [before, after] = await Promise.all([source.revision(), target.revision()]);
  if (after < before)
    throw new ClusterError("The revisions of the new store would go back: the cluster still uses the old one.");
  return orders.length;
}

async function* entriesOf(store: Store) {
  let page = await store.list("", { limit: PAGE });
  const { revision } = page;
  for (;;) {
    yield* page.entries;
    const last = page.entries.at(-1);
    if (last === undefined || !page.more) return;
    page = await store.list("", { limit: PAGE, revision, after: last.key });
  }
}
