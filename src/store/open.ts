/** Opens a store of any kind. Backends are imported on first use, so that LMDB and gRPC are loaded only if needed. */

import type { Clock, Dial, Logger } from "#base";
import type { Tracer } from "#tracing";
import type { EtcdTlsFiles, Imported, ImportOptions, MovedKeys } from "./etcd/index.ts";
import type { HistoryPolicy } from "./history/history.ts";
import type { EtcdMembers } from "./members/members.ts";
import { openMemoryStore } from "./memory/index.ts";
import type { Revision, Store } from "./model/store.ts";
import type { RestoreOptions, Snapshot } from "./snapshot/snapshot-file.ts";

export type StoreSpec =
  | { readonly kind: "memory" }
  | {
      readonly kind: "embedded";
      readonly dir: string;
      /** Default: true. False: what is acknowledged survives the process, but not the machine. */
      readonly flush?: boolean | undefined;
    }
  | {
      readonly kind: "etcd";
      readonly endpoints: readonly string[];
      readonly tls?: EtcdTlsFiles;
      /** The interval at which one of the servers on this etcd compacts it. 0: this server never does. */
      readonly compactionIntervalMs?: number | undefined;
      readonly moved?: MovedKeys | undefined;
    };

export interface StoreOptions {
  readonly clock: Clock;
  readonly log?: Logger;
  /** Omitted limits are the backend's defaults. */
  readonly history?: Partial<HistoryPolicy>;
  /** Calls of etcd during a traced request have spans, and name them to etcd. */
  readonly tracer?: Tracer | undefined;
  /** etcd: follows the members as they come and go, and is called with their URLs. Default: the endpoints stay. */
  readonly onMembers?: ((urls: readonly string[]) => void) | undefined;
  /** Opens connections to etcd. Default: plain TCP. */
  readonly dial?: Dial | undefined;
}

export async function openStore(options: StoreSpec & StoreOptions): Promise<Store> {
  switch (options.kind) {
    case "memory":
      return openMemoryStore(options);
    case "embedded": {
      const { openEmbeddedStore } = await import("./embedded/index.ts");
      return openEmbeddedStore(options);
    }
    case "etcd": {
      const { openEtcdStore } = await import("./etcd/index.ts");
      return openEtcdStore(options);
    }
  }
}

/** Creates an embedded store in `dir` from a snapshot, and returns the revision at which it starts. */
export async function restoreStore(
  dir: string,
  source: AsyncIterable<Uint8Array>,
  options: RestoreOptions,
): Promise<Revision> {
  const { restoreEmbeddedStore } = await import("./embedded/index.ts");
  return restoreEmbeddedStore(dir, source, options);
}

/** The members behind an etcd, for those who run them. */
export async function openEtcdMembers(options: {
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTlsFiles | undefined;
}): Promise<EtcdMembers> {
  const opened = await import("./members/etcd-members.ts");
  return opened.openEtcdMembers(options);
}

/** Takes a snapshot over into an etcd that has nothing at the store's place. */
export async function importIntoEtcd(snapshot: Snapshot, options: ImportOptions): Promise<Imported> {
  const etcd = await import("./etcd/index.ts");
  return etcd.importIntoEtcd(snapshot, options);
}
