/** The store of a configuration, as the store itself describes it. */
import { posix } from "node:path";
import { STORE_PREFIX } from "#apiserver";
import type { StoreSpec } from "#store";
import type { StoreConfig } from "./cluster-config.ts";
import { ClusterError } from "./errors.ts";

/** `dir`: where an embedded store is. A standalone API server has no such directory. */
export function storeSpec(store: StoreConfig, dir?: string): StoreSpec {
  if (store.kind === "memory") return store;
  if (store.kind === "embedded") {
    if (dir === undefined) throw new ClusterError("a standalone API server needs etcd.");
    return { kind: "embedded", dir };
  }
  const { prefix, managed: _, ...spec } = store;
  return { ...spec, moved: prefix === undefined ? undefined : movedTo(prefix) };
}

/** As in Kubernetes: slashes at both ends, and no other than single ones. */
function movedTo(prefix: string) {
  const to = posix.join("/", prefix, "/");
  return to === STORE_PREFIX ? undefined : { from: STORE_PREFIX, to };
}
