/**
 * How a machine becomes a control plane of a cluster:
 *
 *     kubeadm-certs, opened ──► pki/ ──► etcd: a learner is added ──► member.json, store.json
 *         ──► startCluster: etcd starts, gets everything, is promoted ──► API server, controllers, scheduler
 *
 * 1. After each step the next start goes on: files are the same, and adding a learner again answers as before.
 * 2. Nothing runs here: what is written makes the next `startCluster` one of this cluster.
 */
import { type core, isStatusError, kinds } from "#api";
import type { Clock, Logger } from "#base";
import { makeFolder } from "#base";
import type { Client } from "#client";
import { ensureEtcdPki } from "#pki";
import { openEtcdMembers } from "#store";
import type { StoreConfig } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { type DataDir, openDataDir } from "../data/data-dir.ts";
import { writeStoreRecord } from "../data/store-record.ts";
import { clientTls, joiningMember, memberPaths, newMember, readMember, urlOf, writeMember } from "../etcd/index.ts";
import { openInto, SECRET_NAME, SECRET_NAMESPACE } from "./shared-files.ts";
import { ETCD_CONFIG } from "./upload-certs.ts";

export interface ControlPlaneRequest {
  /** By a bootstrap token, or as an administrator. */
  readonly client: Client;
  readonly certificateKey: string;
  readonly dir: DataDir;
  /** Of this machine, where the other control planes reach it. */
  readonly address: string;
  /** Of the etcd member: that of the machine. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Returns the store with which the cluster is to be started here. Throws ClusterError. */
export async function joinControlPlane(request: ControlPlaneRequest): Promise<StoreConfig> {
  const { client, dir } = request;
  const secret = await client
    .of<core.Secret>(kinds.Secret)
    .in(SECRET_NAMESPACE)
    .get(SECRET_NAME)
    .catch((error: unknown) => {
      if (!isStatusError(error)) throw error;
      throw new ClusterError(
        `The certificates of the control plane cannot be read (${error.message}): they are kept for two hours. \`k8ts token create --control-plane\` on a control plane uploads them again.`,
        { cause: error },
      );
    });
  const endpoints = await etcdEndpoints(client);
  const lock = await openDataDir(dir);
  try {
    return await takePart(request, secret, endpoints);
  } finally {
    lock.release();
  }
}

async function takePart(
  { certificateKey, dir, address, name, clock, log }: ControlPlaneRequest,
  secret: core.Secret,
  endpoints: readonly string[],
): Promise<StoreConfig> {
  await openInto(dir.pki, secret, certificateKey);

  const paths = memberPaths(dir.etcd);
  await makeFolder(dir.etcd, 0o700);
  const record = (await readMember(paths)) ?? (await newMember(name, address));
  // Its ports are part of the membership: they are on disk before anybody hears of them.
  await writeMember(paths, record);
  const serverNames = {
    dnsNames: ["localhost", record.name],
    ipAddresses: [...new Set(["127.0.0.1", "::1", address])],
  };
  const pki = await ensureEtcdPki(dir.pki, { clock, memberName: record.name, serverNames, log });
  const members = await openEtcdMembers({ endpoints, tls: clientTls(pki) });
  try {
    const joining = await members.addLearner(record.name, urlOf(record.address, record.peerPort));
    await writeMember(paths, joiningMember(record, joining, endpoints));
  } finally {
    await members.close();
  }
  const store: StoreConfig = { kind: "etcd", endpoints: [], managed: { name: record.name, address } };
  await writeStoreRecord(dir, store);
  return store;
}

async function etcdEndpoints(client: Client): Promise<readonly string[]> {
  try {
    const { data } = await client.of<core.ConfigMap>(kinds.ConfigMap).in(SECRET_NAMESPACE).get(ETCD_CONFIG);
    const endpoints = (data?.endpoints ?? "").split(",").filter((endpoint) => endpoint !== "");
    if (endpoints.length > 0) return endpoints;
  } catch (error) {
    if (!isStatusError(error)) throw error;
  }
  throw new ClusterError(
    "This cluster has no etcd that another control plane can join: start the first one with `k8ts up --store etcd --listen ADDRESS`, or move its state with `k8ts migrate --to etcd`.",
  );
}
