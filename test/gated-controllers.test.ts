/** Controllers that run only with their feature gates, and for kinds that `--runtime-config` adds: in a real process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type apiextensions, isStatusError, type KubeObject, kinds, optional } from "#api";
import { realClock } from "#base";
import { Client, https, namespaced } from "#client";
import { readKubeconfig } from "#pki";
import { Home } from "./support/k8ts.ts";

const GATES = [
  "ClusterTrustBundle",
  "CoordinatedLeaderElection",
  "PodCertificateRequest",
  "StorageVersionAPI",
  "StorageVersionMigrator",
];
const APIS = [
  "certificates.k8s.io/v1beta1",
  "coordination.k8s.io/v1beta1",
  "internal.apiserver.k8s.io/v1alpha1",
  "storagemigration.k8s.io/v1beta1",
];
const WIDGETS = { group: "example.com", resource: "widgets" };
const WITHIN = { timeout: 60_000, interval: 100 };

const home = new Home();
const clock = realClock();
let client: Client;

beforeAll(async () => {
  const up = await home.k8ts(
    ...["up", "--store", "memory", "--port", "0", "--nodes", "0", "--detach"],
    `--feature-gates=${GATES.map((gate) => `${gate}=true`).join(",")}`,
    `--runtime-config=${APIS.map((api) => `${api}=true`).join(",")}`,
  );
  if (up.code !== 0) throw new Error(up.stderr);
  const connection = await readKubeconfig(home.kubeconfig);
  client = new Client({ transport: https({ ...connection, ...connection.client }, { clock }), clock });
});
afterAll(async () => {
  await client?.close();
  await home[Symbol.asyncDispose]();
});

const widgets = (version: "v1" | "v2") =>
  client.of(namespaced<KubeObject>(`example.com/${version}`, "Widget", "widgets")).in("default");

function definition(storage: "v1" | "v2"): apiextensions.CustomResourceDefinition {
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
  return {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: (["v1", "v2"] as const).map((name) => ({
        name,
        served: true,
        storage: name === storage,
        schema: { openAPIV3Schema },
      })),
    },
  };
}

describe("with feature gates and --runtime-config, a cluster", () => {
  it("publishes whom to trust for the API server", async () => {
    const bundles = client.of(optional.ClusterTrustBundle);
    await expect.poll(async () => (await bundles.list()).items.length, WITHIN).toBe(1);
    const [bundle] = (await bundles.list()).items;
    expect(bundle?.metadata.name).toMatch(/^kubernetes\.io:kube-apiserver-serving:[0-9a-f]{24}$/);
    expect(bundle?.spec).toEqual({
      signerName: "kubernetes.io/kube-apiserver-serving",
      trustBundle: readFileSync(join(home.dataDir, "pki", "ca.crt"), "utf8"),
    });
  });

  it("stores custom resources in their new version, and says that the old one is gone", async () => {
    const definitions = client.of(kinds.CustomResourceDefinition);
    await definitions.create(definition("v1"));
    const isServed = () =>
      widgets("v2")
        .list()
        .then(
          () => true,
          () => false,
        );
    await expect.poll(isServed, WITHIN).toBe(true);
    for (const name of ["a", "b"])
      await widgets("v1").create({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name } });
    const { metadata } = await definitions.get("widgets.example.com");
    await definitions.update({ ...definition("v2"), metadata });
    expect((await definitions.get("widgets.example.com")).status?.storedVersions).toEqual(["v1", "v2"]);
    const revisions = async () =>
      (await widgets("v2").list()).items.map((each) => Number(each.metadata.resourceVersion));
    const before = await revisions();

    const migrations = client.of(optional.StorageVersionMigration);
    await migrations.create({ metadata: { name: "to-v2" }, spec: { resource: WIDGETS } });
    const conditions = async () =>
      ((await migrations.get("to-v2")).status?.conditions ?? []).map(({ type, status }) => `${type}=${status}`);
    await expect.poll(conditions, WITHIN).toEqual(["Running=False", "Succeeded=True"]);
    const after = await revisions();
    expect(after.map((revision, i) => revision > (before[i] ?? 0))).toEqual([true, true]);
    expect((await definitions.get("widgets.example.com")).status).toMatchObject({
      storedVersions: ["v2"],
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: "StorageMigrating", status: "False", reason: "MigrationSucceeded" }),
      ]),
    });
    // Nothing is stored in v1 any more: it may go.
    const current = await definitions.get("widgets.example.com");
    const versions = current.spec.versions.filter(({ name }) => name === "v2");
    await definitions.update({ ...current, spec: { ...current.spec, versions } });
    expect((await widgets("v2").list()).items).toHaveLength(2);
  });

  it("forgets API servers that are gone, and keeps those that live", async () => {
    const identity = { labelSelector: "apiserver.kubernetes.io/identity=kube-apiserver" };
    const [own] = (await client.of(kinds.Lease).in("kube-system").list(identity)).items;
    const versions = client.of(optional.StorageVersion);
    const entry = (apiServerID: string) => ({
      apiServerID,
      encodingVersion: "apps/v1",
      decodableVersions: ["apps/v1"],
    });
    const report = async (name: string, servers: readonly string[]) => {
      const made = await versions.create({ metadata: { name }, spec: {} });
      const status = { storageVersions: servers.map(entry), commonEncodingVersion: "apps/v1" };
      await versions.updateStatus({ ...made, status });
    };
    const living = own?.metadata.name ?? "";
    await report("apps.deployments", ["apiserver-gone", living]);
    await report("apps.replicasets", ["apiserver-gone"]);
    const servers = async () =>
      ((await versions.get("apps.deployments")).status?.storageVersions ?? []).map((each) => each.apiServerID);
    await expect.poll(servers, WITHIN).toEqual([living]);
    const isGone = () =>
      versions.get("apps.replicasets").then(
        () => false,
        (error) => isStatusError(error, "NotFound"),
      );
    await expect.poll(isGone, WITHIN).toBe(true);
  });

  it("elects who leads among candidates for a Lease", async () => {
    const renewTime = new Date(clock.now()).toISOString().replace("Z", "000Z");
    const versions = { binaryVersion: "1.36.4", emulationVersion: "1.36.0" };
    await client
      .of(optional.LeaseCandidate)
      .in("kube-system")
      .create({
        metadata: { name: "candidate" },
        spec: { leaseName: "part", ...versions, strategy: "OldestEmulationVersion", renewTime },
      });
    const holder = () =>
      client
        .of(kinds.Lease)
        .in("kube-system")
        .get("part")
        .then(
          ({ spec }) => spec?.holderIdentity,
          () => undefined,
        );
    await expect.poll(holder, WITHIN).toBe("candidate");
  });

  it("has no complaints of its controllers", () => {
    const complaints = home.log().filter(({ level }) => level === "warn" || level === "error");
    expect(complaints.filter((line) => JSON.stringify(line).includes("controller"))).toEqual([]);
    expect(JSON.stringify(complaints)).not.toContain("have no effect");
  });
});
