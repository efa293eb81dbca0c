/** The phase of a start that opens the store, and before it the etcd member of this machine where there is one. */
import { hostname } from "node:os";
import { type EtcdMembers, openStore, type Store } from "#store";
import type { Tracing } from "#tracing";
import { historyOf, type StoreConfig } from "./config/cluster-config.ts";
import { storeSpec } from "./config/store-spec.ts";
import { writeStoreRecord } from "./data/store-record.ts";
import type { EtcdMember } from "./etcd/index.ts";
import { type Start, step } from "./start.ts";

export interface ClusterStore {
  readonly store: Store;
  /** The URLs of the members of the etcd that k8ts runs, as of now; undefined: it runs none. */
  readonly etcdEndpoints: (() => readonly string[]) | undefined;
}

export async function openClusterStore(start: Start, tracing: Tracing | undefined): Promise<ClusterStore> {
  const { config, dir, starting, clock, log } = start;
  const found = await withMember(start);
  const spec = storeSpec(found, dir.store);
  const isManaged = found.kind === "etcd" && found.managed !== undefined;
  let endpoints = isManaged ? found.endpoints : [];
  const follow = (urls: readonly string[]) => {
    endpoints = urls;
  };
  const onMembers = isManaged ? follow : undefined;
  const store = await step("store", start, async () => {
    const tracer = tracing?.tracer("apiserver");
    const opened = await openStore({ ...spec, clock, log, ...historyOf(config), tracer, onMembers });
    return [opened, `${spec.kind}, revision ${await opened.revision()}`];
  });
  starting.defer(() => store.close());
  await writeStoreRecord(dir, config.store);
  return { store, etcdEndpoints: isManaged ? () => endpoints : undefined };
}

/** An etcd that k8ts runs: with the URLs of its members, this machine's first. */
async function withMember(start: Start): Promise<StoreConfig> {
  const { config, dir, starting, clock, random, log } = start;
  const { store } = config;
  if (store.kind !== "etcd" || store.managed === undefined) return store;
  const { name = hostname(), address = config.listen?.address } = store.managed;
  const { startEtcdMember } = await import("./etcd/index.ts");
  const { member, endpoints } = await step("etcd", start, async () => {
    const options = { dir: dir.etcd, pkiDir: dir.pki, name, address, clock, random };
    const member = await startEtcdMember({ ...options, log: log.child({ component: "etcd" }) });
    starting.defer(() => member.stop());
    const members = await member.members();
    try {
      await promoted(member, members);
      const all = (await members.list()).flatMap(({ clientUrls }) => clientUrls.slice(0, 1));
      const others = all.filter((url) => url !== member.clientUrl);
      const detail = `${member.record.name}, ${all.length === 1 ? "the only member" : `one of ${all.length} members`}`;
      return [{ member, endpoints: [member.clientUrl, ...others] }, detail];
    } finally {
      await members.close();
    }
  });
  return { ...store, endpoints, tls: member.tls };
}

/** A member that joined has everything soon; until it is promoted, it serves no store. */
async function promoted({ peerUrl }: EtcdMember, members: EtcdMembers): Promise<void> {
  const own = (await members.list()).find(({ peerUrls }) => peerUrls.includes(peerUrl));
  if (own?.isLearner) await members.promote(own.id);
}
