import { afterEach, describe, expect, it } from "vitest";
import { kinds, optional, parseFeatures, parseRuntimeConfig, servedKinds } from "#api";
import { testControllers } from "../testing/index.ts";
import { storageVersionGc } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const LABELS = { "apiserver.kubernetes.io/identity": "kube-apiserver" };

async function running() {
  const features = parseFeatures({ gates: "StorageVersionAPI=true" });
  const runtimeConfig = parseRuntimeConfig("internal.apiserver.k8s.io/v1alpha1=true");
  const served = servedKinds({ runtimeConfig, enabled: features.enabled });
  const cluster = await testControllers([storageVersionGc], { features, kinds: served });
  open.push(() => cluster.close());
  const { client } = cluster;
  await client.of(kinds.Namespace).create({ metadata: { name: "kube-system" } });
  const leases = client.of(kinds.Lease).in("kube-system");
  const versions = client.of(optional.StorageVersion);
  const report = async (name: string, servers: Readonly<Record<string, string>>) => {
    const made = await versions.create({ metadata: { name }, spec: {} });
    const storageVersions = Object.entries(servers).map(([apiServerID, encodingVersion]) => ({
      apiServerID,
      encodingVersion,
      decodableVersions: [encodingVersion],
    }));
    const common = new Set(Object.values(servers));
    const [commonEncodingVersion = ""] = common.size === 1 ? common : [];
    const agreed = commonEncodingVersion === "" ? {} : { commonEncodingVersion };
    await versions.updateStatus({ ...made, status: { storageVersions, ...agreed } });
  };
  const reported = async () =>
    (await versions.list()).items.map(({ metadata, status }) => [
      metadata.name,
      (status?.storageVersions ?? []).map(({ apiServerID }) => apiServerID),
      status?.commonEncodingVersion,
    ]);
  return { ...cluster, leases, report, reported };
}

describe("the servers of StorageVersions", () => {
  it("go with their Leases, and with the last one the StorageVersion", async () => {
    const { leases, report, reported, clock } = await running();
    for (const name of ["a", "b"]) await leases.create({ metadata: { name, labels: LABELS } });
    await report("apps.deployments", { a: "apps/v1", b: "apps/v2" });
    await report("batch.jobs", { a: "batch/v1" });
    await clock.advance(5_000);
    expect(await reported()).toEqual([
      ["apps.deployments", ["a", "b"], undefined],
      ["batch.jobs", ["a"], "batch/v1"],
    ]);
    await leases.delete("a");
    await clock.advance(5_000);
    expect(await reported()).toEqual([["apps.deployments", ["b"], "apps/v2"]]);
    await leases.delete("b");
    await clock.advance(5_000);
    expect(await reported()).toEqual([]);
  });

  it("without a Lease of an API server are no servers", async () => {
    const { leases, report, reported, clock } = await running();
    await leases.create({ metadata: { name: "a", labels: LABELS } });
    await leases.create({ metadata: { name: "other", labels: { "apiserver.kubernetes.io/identity": "else" } } });
    await clock.advance(5_000);
    await report("apps.deployments", { a: "apps/v1", other: "apps/v1", none: "apps/v1" });
    await clock.advance(5_000);
    expect(await reported()).toEqual([["apps.deployments", ["a"], "apps/v1"]]);
  });

  it("stay where the cache does not show their Lease yet", async () => {
    const { leases, report, reported, settle, writes } = await running();
    await leases.create({ metadata: { name: "new", labels: LABELS } });
    // Changes of Leases reach the cache within a second, those of StorageVersions at once.
    await report("apps.deployments", { new: "apps/v1" });
    await settle();
    expect([await reported(), writes()]).toEqual([[["apps.deployments", ["new"], "apps/v1"]], 0]);
  });
});
