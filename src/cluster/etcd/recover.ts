/**
 * `k8ts recover`: an etcd that has lost its quorum for good begins again with the member of this machine alone.
 *
 * 1. From a snapshot: what was written after it is lost. Clients have seen revisions after it, which nobody knows any
 *    more: the new ones begin far above.
 * 2. With --force-new-cluster: from the data of this machine's member, which may lack the last writes that others
 *    acknowledged, if it was behind.
 * 3. The data of before are kept beside. The other members must not run any more: they join again, with nothing.
 */

import { existsSync } from "node:fs";
import { cp, rename, rm } from "node:fs/promises";
import { importIntoEtcd, readSnapshot, type Snapshot } from "#store";
import type { StoreConfig } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { storeSpec } from "../config/store-spec.ts";
import type { DataDir } from "../data/data-dir.ts";
import { type Migrated, unfinished, withEmptyMember } from "./migrate.ts";
import { memberPaths, readMember, urlOf, writeMember } from "./record.ts";
import { type Stopped, startMember, storeOf, withMember } from "./stopped-store.ts";

/** More than any cluster writes between a snapshot and a loss. */
const REVISION_GAP = 1_000_000_000;

/** The caller holds the lock of the data directory, and has verified the snapshot. */
export async function recoverFromSnapshot(
  dir: DataDir,
  source: AsyncIterable<Uint8Array>,
  options: Stopped,
): Promise<Migrated> {
  const config = await managed(dir);
  const { clock } = options;
  const record = await readMember(memberPaths(dir.etcd));
  const snapshot: Snapshot = await readSnapshot(source);
  await withEmptyMember(dir, options);
  if (record !== undefined) {
    // Its addresses stay: other machines know them.
    const initialCluster = `${record.name}=${urlOf(record.address, record.peerPort)}`;
    await writeMember(memberPaths(dir.etcd), { ...record, initialCluster, initialClusterState: "new" });
  }
  const member = await startMember(dir, config, options, { ordered: true });
  try {
    const spec = storeSpec(withMember(config, member));
    if (spec.kind !== "etcd") throw new TypeError("The store is no etcd.");
    const revisionAtLeast = snapshot.revision + REVISION_GAP;
    const { count, revision } = await importIntoEtcd(snapshot, { ...spec, clock, revisionAtLeast });
    await rm(unfinished(dir));
    return { objects: count, revision };
  } finally {
    await member.stop();
  }
}

/** Returns the members that are left behind. */
export async function forceNewCluster(dir: DataDir, options: Stopped): Promise<{ readonly keptIn: string }> {
  const config = await managed(dir);
  const { data } = memberPaths(dir.etcd);
  if (!existsSync(data)) throw new ClusterError(`There is no member's data in ${data}: recover from a snapshot.`);
  const keptIn = `${data}.replaced-${new Date(options.clock.now()).toISOString()}`;
  await cp(data, `${keptIn}.part`, { recursive: true });
  await rename(`${keptIn}.part`, keptIn);
  const member = await startMember(dir, config, options, { forceNewCluster: true });
  await member.stop();
  return { keptIn };
}

async function managed(dir: DataDir): Promise<StoreConfig & { readonly kind: "etcd" }> {
  const config = await storeOf(dir);
  if (config?.kind === "etcd" && config.managed !== undefined) return config;
  throw new ClusterError(
    config?.kind === "etcd"
      ? "The etcd of this cluster is not run by k8ts: recover it with its own tools."
      : `${dir.path} has no etcd member: \`k8ts restore\` puts a snapshot into an embedded store.`,
  );
}
