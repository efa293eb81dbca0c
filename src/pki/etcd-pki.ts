/**
 * The keys and certificates of an etcd member that k8ts runs, in kubeadm's files: an authority of etcd's own, so that
 * no client of the API server can reach the store.
 *
 * 1. Members know each other by `etcd/peer`, the API server is known by `apiserver-etcd-client`.
 * 2. Every machine has leaves of its own, signed by the one authority, which joins hand over.
 */

import { join } from "node:path";
import type { Clock, Logger } from "#base";
import { planAuthority, planLeaf } from "./cluster-pki.ts";
import { ensurePrivateFolder, writeFiles } from "./files.ts";
import type { ServerNames } from "./leaf.ts";

export interface EtcdPkiOptions {
  readonly clock: Clock;
  /** The name of the machine, and the addresses of its member. */
  readonly memberName: string;
  readonly serverNames: ServerNames;
  readonly log?: Pick<Logger, "info">;
}

export interface EtcdPki {
  /** The paths of the files, without .crt and .key. */
  readonly ca: string;
  readonly server: string;
  readonly peer: string;
  readonly healthcheckClient: string;
  readonly apiserverClient: string;
}

const BOTH = ["server", "client"] as const;

/** `dir`: that of the cluster's certificates. */
export async function ensureEtcdPki(dir: string, options: EtcdPkiOptions): Promise<EtcdPki> {
  const { memberName, serverNames } = options;
  await ensurePrivateFolder(join(dir, "etcd"));
  const ca = await planAuthority(dir, "etcd/ca", "etcd-ca", options);
  const member = { commonName: memberName, ...serverNames, usages: BOTH };
  const client = (commonName: string) => ({ commonName, usages: ["client"] as const });
  const leaves = await Promise.all([
    planLeaf(dir, { file: "etcd/server", request: member }, ca.value, options),
    planLeaf(dir, { file: "etcd/peer", request: member }, ca.value, options),
    planLeaf(
      dir,
      { file: "etcd/healthcheck-client", request: client("kube-etcd-healthcheck-client") },
      ca.value,
      options,
    ),
    planLeaf(dir, { file: "apiserver-etcd-client", request: client("kube-apiserver-etcd-client") }, ca.value, options),
  ]);
  const writes = [ca, ...leaves].flatMap((planned) => planned.writes);
  if (writes.length > 0) await writeFiles(writes);
  return {
    ca: join(dir, "etcd/ca"),
    server: join(dir, "etcd/server"),
    peer: join(dir, "etcd/peer"),
    healthcheckClient: join(dir, "etcd/healthcheck-client"),
    apiserverClient: join(dir, "apiserver-etcd-client"),
  };
}
