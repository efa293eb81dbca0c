/** 1 → 3 control planes on an etcd that k8ts runs, and back: what is written on one is there on all, at every step. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type core, isStatusError, type KubeObject, kinds } from "#api";
import { realClock, silentLogger, systemRandom } from "#base";
import { Client, https } from "#client";
import { type Cluster, type ClusterConfig, dataDirAt, startCluster } from "#cluster";
import { readKubeconfig } from "#pki";
import type { EtcdMembers } from "#store";
import { joinControlPlane, uploadCerts } from "../src/cluster/control-plane/index.ts";
import { memberOf } from "../src/cluster/etcd/index.ts";
import { findEtcd } from "../src/store/testing/etcd-server.ts";

/** Less than `k8ts down` waits. */
const STOP_MS = 20_000;
const PATIENCE = { timeout: 60_000, interval: 50 };
const clock = realClock();
const random = systemRandom();
const environment = { clock, log: silentLogger, progress: () => {} };

describe.skipIf(findEtcd() === undefined)("control planes (need etcd)", () => {
  const root = mkdtempSync(join(tmpdir(), "k8ts-control-planes-"));
  const path = process.env.PATH ?? "";
  const clusters: Cluster[] = [];
  const clients: Client[] = [];
  let members: EtcdMembers;
  beforeAll(async () => {
    process.env.PATH = [path, dirname(findEtcd() ?? "")].join(delimiter);
    await start(0);
    members = await (await memberOf(dirOf(0))).open();
  });
  afterAll(async () => {
    await members?.close();
    for (const client of clients) await client.close();
    // The last one first: the others keep a quorum as long as it goes.
    for (const cluster of clusters.toReversed()) await cluster.stop();
    process.env.PATH = path;
    rmSync(root, { recursive: true, force: true });
  });

  const dirOf = (number: number) => dataDirAt(join(root, `m${number}`), {});
  const start = async (number: number) => {
    const config: ClusterConfig = {
      dataDir: dirOf(number).path,
      bindAddress: "127.0.0.1",
      port: 0,
      store: { kind: "etcd", endpoints: [], managed: { name: `m${number}`, address: "127.0.0.1" } },
      mergeInto: join(root, "kubeconfig"),
      localStorage: false,
    };
    const cluster = await startCluster(config, environment);
    clusters[number] = cluster;
    const { server, caPem, client: user = {} } = await readKubeconfig(cluster.kubeconfig);
    const transport = https({ server, caPem, ...user }, { clock });
    clients[number] = new Client({ transport, clock });
  };
  const configMaps = (number: number) => {
    const client = clients[number];
    if (client === undefined) throw new Error(`Control plane ${number} does not run.`);
    return client.of<core.ConfigMap & KubeObject>(kinds.ConfigMap).in("default");
  };
  const create = (number: number, name: string) =>
    configMaps(number).create({ metadata: { name, namespace: "default" } } as core.ConfigMap & KubeObject);
  const join_ = async (number: number, certificateKey: string) => {
    const [client] = clients;
    if (client === undefined) throw new Error("The first control plane does not run.");
    const request = { client, certificateKey, dir: dirOf(number), address: "127.0.0.1", name: `m${number}` };
    await joinControlPlane({ ...request, clock, log: silentLogger });
    await start(number);
  };

  it("grow from one to three, and every one serves the same", { timeout: 120_000 }, async () => {
    const [first] = clients;
    if (first === undefined) throw new Error("The first control plane does not run.");
    await create(0, "one");
    const upload = () => uploadCerts({ client: first, pkiDir: dirOf(0).pki, clock, random });
    const old = await upload();
    const certificateKey = await upload();
    const secret = await first.of<core.Secret>(kinds.Secret).in("kube-system").get("kubeadm-certs");
    expect(Object.keys(secret.data ?? {}).sort()).toEqual(
      ["ca.crt", "ca.key", "etcd-ca.crt", "etcd-ca.key"].concat([
        "front-proxy-ca.crt",
        "front-proxy-ca.key",
        "sa.key",
        "sa.pub",
      ]),
    );
    const [owner] = secret.metadata?.ownerReferences ?? [];
    const token = await first
      .of<core.Secret>(kinds.Secret)
      .in("kube-system")
      .get(owner?.name ?? "");
    expect(token.type).toBe("bootstrap.kubernetes.io/token");
    // An older key opens nothing, and nothing is written.
    await expect(join_(1, old)).rejects.toThrow("does not open with this certificate key");

    await join_(1, certificateKey);
    await join_(2, certificateKey);
    const list = await members.list();
    expect(list.map(({ name, healthy, isLearner }) => ({ name, healthy, isLearner })).toSorted(byName)).toEqual(
      ["m0", "m1", "m2"].map((name) => ({ name, healthy: true, isLearner: false })),
    );
    expect(list.filter(({ isLeader }) => isLeader)).toHaveLength(1);
    for (const [number, name] of ["a", "b", "c"].entries()) await create(number, name);
    for (const number of [0, 1, 2]) {
      const { items } = await configMaps(number).list();
      expect(items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(["one", "a", "b", "c"]));
    }
    await members.defragment();
  });

  it("a control plane without a quorum stops soon, also while it writes", { timeout: 120_000 }, async () => {
    const stopped = clusters.splice(1);
    for (const client of clients.splice(1)) await client.close();
    for (const cluster of stopped.toReversed()) await cluster.stop();
    // A client has an answer under way, and the first its leases and endpoints.
    const writing = create(0, "never").catch((error: unknown) => error);
    await clock.sleep(500);
    const startMs = clock.monotonic();
    await clusters.pop()?.stop();
    expect(clock.monotonic() - startMs).toBeLessThan(STOP_MS);
    await clients.pop()?.close();
    expect(await writing).toBeInstanceOf(Error);
    await Promise.all([0, 1, 2].map(start));
  });

  it("shrink to one again while it serves", { timeout: 120_000 }, async () => {
    for (const number of [2, 1]) {
      const member = (await members.list()).find(({ name }) => name === `m${number}`);
      await members.remove(member?.id ?? "");
      await clients.pop()?.close();
      await clusters.pop()?.stop();
      const name = `without-${number}`;
      await expect
        .poll(async () => {
          try {
            await create(0, name);
            return true;
          } catch (error) {
            return isStatusError(error, "AlreadyExists");
          }
        }, PATIENCE)
        .toBe(true);
    }
    expect((await members.list()).map(({ name, healthy }) => ({ name, healthy }))).toEqual([
      { name: "m0", healthy: true },
    ]);
    const { items } = await configMaps(0).list();
    expect(items.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(["one", "a", "b", "c", "without-2", "without-1"]),
    );
  });
});

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
