/** Opens a store of any kind. Backends are imported when first used: nobody loads LMDB or gRPC without needing it. */

import type { Clock, Logger } from "#base";
import type { EtcdTlsFiles } from "./etcd/index.ts";
import type { HistoryPolicy } from "./history/history.ts";
import { openMemoryStore } from "./memory/index.ts";
import type { Revision, Store } from "./model/store.ts";
import type { RestoreOptions } from "./snapshot/snapshot-file.ts";

export type StoreSpec =
  | { readonly kind: "memory" }
  | { readonly kind: "embedded"; readonly dir: string }
  | { readonly kind: "etcd"; readonly endpoints: readonly string[]; readonly tls?: EtcdTlsFiles };

export interface StoreOptions {
  readonly clock: Clock;
  readonly log?: Logger;
  /** What is not given is the backend's default. */
  readonly history?: Partial<HistoryPolicy>;
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

/** Makes a new embedded store in `dir` from a snapshot, and answers with the revision at which it starts. */
export async function restoreStore(
  dir: string,
  source: AsyncIterable<Uint8Array>,
  options: RestoreOptions,
): Promise<Revision> {
  const { restoreEmbeddedStore } = await import("./embedded/index.ts");
  return restoreEmbeddedStore(dir, source, options);
}
