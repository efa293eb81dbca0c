/** `--store`, and which store has the state of an existing cluster. */
import { ClusterError, type StoreConfig } from "#cluster";
import { type EtcdOptions, etcdStore, isAboutEtcd, tlsOf } from "./api-server/etcd.ts";

export interface StoreOptions extends EtcdOptions {
  readonly store?: "embedded" | "memory" | "etcd";
}

/** `last`: that of the last start, or of a migration since. */
export function storeFrom(options: StoreOptions, last?: StoreConfig): StoreConfig {
  const wanted = chosen(options, last);
  if (last !== undefined && wanted.kind !== "memory" && wanted.kind !== last.kind) {
    throw new ClusterError(
      `The state of this cluster is in ${last.kind === "etcd" ? "etcd" : "its embedded store"}: start it without --store, or move the state first with \`k8ts migrate --to ${wanted.kind}\`.`,
    );
  }
  return wanted;
}

function chosen(options: StoreOptions, last: StoreConfig | undefined): StoreConfig {
  const { etcdServers, etcdPrefix: prefix, etcdCompactionInterval: compactionIntervalMs } = options;
  const store = options.store ?? last?.kind ?? "embedded";
  if (store !== "etcd") {
    if (isAboutEtcd(options))
      throw new ClusterError(`--etcd-servers and the other flags of etcd require --store etcd, not --store ${store}.`);
    return { kind: store };
  }
  if (etcdServers !== undefined) return etcdStore(options, "");
  if (tlsOf(options) !== undefined)
    throw new ClusterError("--etcd-cafile, --etcd-certfile and --etcd-keyfile belong to --etcd-servers.");
  const before = last?.kind === "etcd" ? last : ({ kind: "etcd", endpoints: [], managed: {} } as const);
  return {
    ...before,
    ...(prefix !== undefined && { prefix }),
    ...(compactionIntervalMs !== undefined && { compactionIntervalMs }),
  };
}
