/** The store of a cluster that does not run: whichever it is, opened for as long as something is done with it. */
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { type Clock, type Logger, silentLogger, systemRandom } from "#base";
import { type EtcdMembers, openEtcdMembers, openStore, type Store } from "#store";
import type { StoreConfig } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { storeSpec } from "../config/store-spec.ts";
import type { DataDir } from "../data/data-dir.ts";
import { readStoreRecord } from "../data/store-record.ts";
import { type EtcdMember, type EtcdMemberOptions, startEtcdMember } from "./member.ts";
import { memberPaths, readMember, urlOf } from "./record.ts";

export interface Stopped {
  readonly clock: Clock;
  readonly log?: Logger | undefined;
}

/** Undefined: it has no state yet. */
export async function storeOf(dir: DataDir): Promise<StoreConfig | undefined> {
  return (await readStoreRecord(dir)) ?? (existsSync(dir.store) ? { kind: "embedded" } : undefined);
}

/** The caller holds the lock of the data directory. */
export async function openStoppedStore(dir: DataDir, config: StoreConfig, stopped: Stopped): Promise<Store> {
  const { clock } = stopped;
  if (config.kind !== "etcd" || config.managed === undefined)
    return openStore({ ...storeSpec(notCompacting(config), dir.store), clock });
  const member = await startMember(dir, config, stopped);
  try {
    await aloneOrTogether(member);
    const store = await openStore({ ...storeSpec(withMember(config, member), dir.store), clock });
    return {
      ...bound(store),
      close: async () => {
        await store.close();
        await member.stop();
      },
    };
  } catch (error) {
    await member.stop();
    throw error;
  }
}

export function startMember(
  dir: DataDir,
  { managed = {} }: StoreConfig & { readonly kind: "etcd" },
  { clock, log = silentLogger }: Stopped,
  how: Pick<EtcdMemberOptions, "forceNewCluster" | "ordered"> = {},
): Promise<EtcdMember> {
  const { name = hostname(), address } = managed;
  const place = { dir: dir.etcd, pkiDir: dir.pki, name, address, ...how };
  return startEtcdMember({ ...place, clock, random: systemRandom(), log });
}

export function withMember(config: StoreConfig & { readonly kind: "etcd" }, member: EtcdMember): StoreConfig {
  return { ...notCompacting(config), endpoints: [member.clientUrl], tls: member.tls } as StoreConfig;
}

function notCompacting(config: StoreConfig): StoreConfig {
  return config.kind === "etcd" ? { ...config, compactionIntervalMs: 0 } : config;
}

async function aloneOrTogether(member: EtcdMember): Promise<void> {
  const members = await member.members();
  try {
    const all = await members.list();
    if (all.some(({ healthy }) => healthy)) return;
    const others = all.filter(({ peerUrls }) => !peerUrls.includes(member.peerUrl)).map(({ name }) => name);
    throw new ClusterError(
      `The etcd of this cluster has ${all.length} members, and too few of them run (others: ${others.join(", ")}). Start them, or see \`k8ts recover\`.`,
    );
  } finally {
    await members.close();
  }
}

/** Its methods as properties, so that one of them can be replaced. */
function bound(store: Store): Store {
  const { sizeBytes } = store;
  return {
    get: (...args) => store.get(...args),
    list: (...args) => store.list(...args),
    count: (...args) => store.count(...args),
    create: (...args) => store.create(...args),
    update: (...args) => store.update(...args),
    delete: (...args) => store.delete(...args),
    watch: (...args) => store.watch(...args),
    revision: (...args) => store.revision(...args),
    compact: (...args) => store.compact(...args),
    ...(sizeBytes !== undefined && { sizeBytes: () => sizeBytes.call(store) }),
    close: () => store.close(),
  };
}

/** The member of this machine, for commands while it runs. Throws ClusterError if k8ts runs none. */
export async function memberOf(dir: DataDir): Promise<{ open(): Promise<EtcdMembers> }> {
  const record = await readMember(memberPaths(dir.etcd));
  const config = await storeOf(dir);
  if (record === undefined || config?.kind !== "etcd" || config.managed === undefined)
    throw new ClusterError(
      `${dir.path} has no etcd that k8ts runs: \`k8ts migrate --to etcd\` moves a stopped cluster to one.`,
    );
  const file = (name: string) => join(dir.pki, name);
  const tls = {
    caFile: file("etcd/ca.crt"),
    certFile: file("apiserver-etcd-client.crt"),
    keyFile: file("apiserver-etcd-client.key"),
  };
  return { open: () => openEtcdMembers({ endpoints: [urlOf("127.0.0.1", record.clientPort)], tls }) };
}
