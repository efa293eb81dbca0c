/** Snapshots from the claim to the driver and back, on virtual time, with a scripted driver. */
import { afterEach, expect, it } from "vitest";
import { kinds } from "#api";
import { GrpcError } from "#grpc";
import { annotations, finalizers } from "./objects/names.ts";
import { restoreSource } from "./restore.ts";
import { DRIVER, type SnapshotCluster, snapshotCluster } from "./testing/snapshot-cluster.ts";

let cluster: SnapshotCluster;
afterEach(() => cluster.close());

const ofData = { source: { persistentVolumeClaimName: "data" } };

it("a snapshot of a claim is made, bound, ready, and can be restored from", async () => {
  cluster = await snapshotCluster();
  await cluster.claim("data");
  await cluster.snapshot("snap", ofData);
  const snapshot = await cluster.get("snap");
  const content = await cluster.onlyContent();
  const uid = snapshot?.metadata.uid ?? "";
  expect(snapshot).toMatchObject({
    metadata: { finalizers: [finalizers.snapshotAsSource, finalizers.snapshotBound] },
    spec: { volumeSnapshotClassName: "standard" },
    status: { boundVolumeSnapshotContentName: `snapcontent-${uid}`, readyToUse: true, restoreSize: "1Gi" },
  });
  expect(content).toMatchObject({
    metadata: { name: `snapcontent-${uid}`, finalizers: [finalizers.content] },
    spec: {
      driver: DRIVER,
      deletionPolicy: "Delete",
      source: { volumeHandle: "vol-data" },
      sourceVolumeMode: "Filesystem",
      volumeSnapshotClassName: "standard",
      volumeSnapshotRef: { kind: "VolumeSnapshot", namespace: "default", name: "snap", uid },
    },
    status: { readyToUse: true, restoreSize: 1_073_741_824, snapshotHandle: `snap-snapshot-${uid}` },
  });
  expect(content.metadata.annotations ?? {}).toEqual({});
  expect(cluster.driver.calls.map(({ method }) => method)).toEqual(["CreateSnapshot"]);
  expect(await cluster.events()).toEqual([
    "CreatingSnapshot: Waiting for a snapshot default/snap to be created by the CSI driver.",
    "SnapshotCreated: Snapshot default/snap was successfully created by the CSI driver.",
    "SnapshotReady: Snapshot default/snap is ready to use.",
  ]);
  expect(restoreSource(snapshot, content, DRIVER)).toEqual({
    ok: true,
    source: {
      snapshotHandle: `snap-snapshot-${uid}`,
      restoreSizeBytes: 1_073_741_824,
      node: undefined,
      sourceVolumeMode: "Filesystem",
    },
  });
  const claim = await cluster.client.of(kinds.PersistentVolumeClaim).in("default").get("data");
  expect(claim.metadata.finalizers ?? []).not.toContain(finalizers.claimAsSource);
});

it("a snapshot takes these writes, and no more when nothing changes", async () => {
  cluster = await snapshotCluster();
  await cluster.claim("data");
  await cluster.snapshot("snap", ofData);
  const uid = (await cluster.get("snap"))?.metadata.uid ?? "";
  const writes = () =>
    cluster
      .requests()
      .filter(({ method, path }) => method !== "GET" && !path.endsWith("/events"))
      .map(({ method, path }) => `${method} ${path.replace(/^.*\/v1\//, "").replace(uid, "UID")}`);
  const made = writes();
  expect(made).toEqual([
    "PATCH namespaces/default/volumesnapshots/snap", // its class
    "PATCH namespaces/default/volumesnapshots/snap", // its first finalizer
    "PUT namespaces/default/persistentvolumeclaims/data", // kept
    "POST volumesnapshotcontents",
    "PATCH volumesnapshotcontents/snapcontent-UID", // being created
    "PUT namespaces/default/volumesnapshots/snap/status", // bound
    "PATCH volumesnapshotcontents/snapcontent-UID/status", // ready
    "PATCH namespaces/default/volumesnapshots/snap", // its second finalizer
    "PATCH volumesnapshotcontents/snapcontent-UID", // created
    "PUT namespaces/default/volumesnapshots/snap/status", // ready
    "PUT namespaces/default/persistentvolumeclaims/data", // free
  ]);
  await cluster.clock.advance(3_600_000);
  await cluster.settle();
  expect(writes()).toEqual(made);
});

it("a claim is kept while a snapshot of it is made", async () => {
  cluster = await snapshotCluster();
  cluster.driver.readyAtOnce = false;
  await cluster.claim("data");
  await cluster.snapshot("snap", ofData);
  const claims = cluster.client.of(kinds.PersistentVolumeClaim).in("default");
  await claims.delete("data");
  await cluster.settle();
  expect((await claims.get("data")).metadata.finalizers).toEqual([finalizers.claimAsSource]);
  for (const each of cluster.driver.snapshots.values()) each.readyToUse = true;
  await cluster.clock.advance(2_000);
  await cluster.settle();
  expect((await claims.list()).items).toEqual([]);
  expect((await cluster.get("snap"))?.status?.readyToUse).toBe(true);
});

it("a snapshot that is not ready is asked for again, ever more seldom", async () => {
  cluster = await snapshotCluster();
  cluster.driver.readyAtOnce = false;
  await cluster.claim("data");
  await cluster.snapshot("snap", ofData);
  expect(await cluster.get("snap")).toMatchObject({ status: { readyToUse: false } });
  expect(cluster.driver.calls).toHaveLength(1);
  const counts: number[] = [];
  for (const ms of [1_000, 2_000, 4_000, 8_000]) {
    await cluster.clock.advance(ms);
    await cluster.settle();
    counts.push(cluster.driver.calls.length);
  }
  expect(counts).toEqual([2, 3, 4, 5]);
});

it.each([
  ["Delete", 0, 0],
  ["Retain", 1, 1],
] as const)("deleting a snapshot with the policy %s leaves %i contents", async (policy, contents, snapshots) => {
  cluster = await snapshotCluster();
  await cluster.claim("data");
  await cluster.snapshot("snap", ofData);
  const { metadata } = await cluster.onlyContent();
  const all = cluster.client.of({
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotContent",
    plural: "volumesnapshotcontents",
    namespaced: false,
  });
  await all.patch(metadata.name ?? "", { type: "merge", object: { spec: { deletionPolicy: policy } } });
  await cluster.remove("snap");
  expect(await cluster.get("snap")).toBeUndefined();
  expect(await cluster.contents()).toHaveLength(contents);
  expect(cluster.driver.snapshots.size).toBe(snapshots);
  const left = await cluster.contentOf(metadata.name ?? "");
  if (left !== undefined) expect(left.metadata.annotations).toEqual({ [annotations.beingDeleted]: "yes" });
});

it("a snapshot stays while a claim is restored from it", async () => {
  cluster = await snapshotCluster();
  await cluster.claim("data");
  await cluster.snapshot("snap", ofData);
  const claims = cluster.client.of(kinds.PersistentVolumeClaim).in("default");
  const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "snap" };
  const restored = await claims.create({
    metadata: { name: "restored" },
    spec: { accessModes: ["ReadWriteOnce"], dataSource, resources: { requests: { storage: "1Gi" } } },
  });
  await cluster.remove("snap");
  expect((await cluster.get("snap"))?.metadata.deletionTimestamp).toBeDefined();
  expect(await cluster.events()).toContain("SnapshotDeletePending: Snapshot is being used to restore a PVC");
  await claims.updateStatus({ ...restored, status: { phase: "Bound" } });
  await cluster.settle();
  expect(await cluster.get("snap")).toBeUndefined();
  expect(cluster.driver.snapshots.size).toBe(0);
});

it("a content that exists is bound to the snapshot that it is reserved for", async () => {
  cluster = await snapshotCluster();
  await cluster.claim("data");
  await cluster.driver.driver.Controller.CreateSnapshot({ name: "old", sourceVolumeId: "vol-data" });
  const ref = { namespace: "default", name: "snap" };
  const spec = { driver: DRIVER, deletionPolicy: "Delete", source: { snapshotHandle: "snap-old" } } as const;
  await cluster.content("given", { ...spec, volumeSnapshotRef: ref });
  await cluster.snapshot("snap", { source: { volumeSnapshotContentName: "given" } });
  const snapshot = await cluster.get("snap");
  expect(snapshot?.status).toMatchObject({
    boundVolumeSnapshotContentName: "given",
    readyToUse: true,
    restoreSize: "1Gi",
  });
  expect((await cluster.onlyContent()).spec.volumeSnapshotRef).toMatchObject({ ...ref, uid: snapshot?.metadata.uid });
  // Another snapshot cannot have it.
  await cluster.snapshot("thief", { source: { volumeSnapshotContentName: "given" } });
  expect((await cluster.get("thief"))?.status).toMatchObject({
    readyToUse: false,
    error: { message: "VolumeSnapshotContent [given] is bound to a different snapshot" },
  });
  expect(restoreSource(await cluster.get("thief"), await cluster.contentOf("given"), DRIVER).ok).toBe(false);
  await cluster.remove("thief");
  expect(cluster.driver.snapshots.size).toBe(1);
  await cluster.remove("snap");
  expect(await cluster.contents()).toEqual([]);
  expect(cluster.driver.snapshots.size).toBe(0);
});

it("what is missing is said in upstream's words, and waited for", async () => {
  cluster = await snapshotCluster();
  await cluster.snapshot("snap", ofData);
  const missing = 'failed to retrieve PVC data from the lister: "persistentvolumeclaim \\"data\\" not found"';
  expect((await cluster.get("snap"))?.status?.error?.message).toBe(
    `Failed to set default snapshot class with error ${missing}`,
  );
  await cluster.snapshot("unclassed", { ...ofData, volumeSnapshotClassName: "fast" });
  expect((await cluster.get("unclassed"))?.status?.error?.message).toBe(
    'Failed to get snapshot class with error volumesnapshotclass.snapshot.storage.k8s.io "fast" not found',
  );
  await cluster.claim("data");
  await cluster.settle();
  expect((await cluster.get("snap"))?.status).toMatchObject({ readyToUse: true });
  expect((await cluster.get("snap"))?.status?.error).toBeUndefined();
});

it("two default classes of a driver are one too many", async () => {
  cluster = await snapshotCluster();
  const apiVersion = "snapshot.storage.k8s.io/v1";
  const kind = "VolumeSnapshotClass";
  const classes = cluster.client.of({ apiVersion, kind, plural: "volumesnapshotclasses", namespaced: false });
  const metadata = { name: "other", annotations: { [annotations.defaultClass]: "true" } };
  await classes.create({ apiVersion, kind, metadata, driver: DRIVER, deletionPolicy: "Retain" } as never);
  await cluster.claim("data");
  await cluster.snapshot("snap", ofData);
  expect(await cluster.events()).toContain(
    "SetDefaultSnapshotClassFailed: Failed to set default snapshot class with error 2 default snapshot classes were found",
  );
  await classes.delete("other");
  await cluster.settle();
  expect((await cluster.get("snap"))?.status).toMatchObject({ readyToUse: true });
});

it("a driver that refuses is reported and asked again; the claim is free to go with the snapshot", async () => {
  cluster = await snapshotCluster();
  await cluster.claim("data");
  cluster.driver.script("CreateSnapshot", () => {
    throw new GrpcError("INVALID_ARGUMENT", "no such volume");
  });
  await cluster.snapshot("snap", ofData);
  const words =
    'failed to take snapshot of the volume vol-data: "rpc error: code = InvalidArgument desc = no such volume"';
  expect((await cluster.get("snap"))?.status?.error?.message).toBe(`Failed to create snapshot: ${words}`);
  const content = await cluster.onlyContent();
  // A final refusal: nothing is under way.
  expect(content.metadata.annotations).toBeUndefined();
  await cluster.remove("snap");
  expect(await cluster.contents()).toEqual([]);
  expect(cluster.driver.calls.filter(({ method }) => method === "DeleteSnapshot")).toEqual([]);
});

it("a snapshot whose creation timed out is not forgotten: it is found, and then deleted", async () => {
  cluster = await snapshotCluster();
  await cluster.claim("data");
  const { Controller } = cluster.driver.driver;
  cluster.driver.script("CreateSnapshot", async ({ name, sourceVolumeId }) => {
    cluster.driver.script("CreateSnapshot", undefined);
    await Controller.CreateSnapshot({ name: String(name), sourceVolumeId: String(sourceVolumeId) });
    throw new GrpcError("DEADLINE_EXCEEDED", "too slow");
  });
  await cluster.snapshot("snap", ofData);
  expect((await cluster.onlyContent()).metadata.annotations).toMatchObject({ [annotations.beingCreated]: "yes" });
  expect(cluster.driver.snapshots.size).toBe(1);
  await cluster.remove("snap");
  // It is not known yet what there is to delete.
  expect(await cluster.contents()).toHaveLength(1);
  await cluster.clock.advance(1_000);
  await cluster.settle();
  expect(await cluster.contents()).toEqual([]);
  expect(cluster.driver.snapshots.size).toBe(0);
  expect(await cluster.get("snap")).toBeUndefined();
});

it.each([
  ["no snapshot", { snapshot: null }, "the driver's answer has no snapshot"],
  ["no id", { snapshot: { ...blank(), snapshotId: "" } }, "the driver's answer has no snapshot id"],
  ["another volume", { snapshot: { ...blank(), sourceVolumeId: "vol-other" } }, "is of the volume vol-other"],
  ["a time before 1970", { snapshot: { ...blank(), creationTime: { seconds: "-5", nanos: 0 } } }, "out of range"],
])("garbage is not believed: %s", async (_, answer, words) => {
  cluster = await snapshotCluster();
  await cluster.claim("data");
  cluster.driver.script("CreateSnapshot", () => answer);
  await cluster.snapshot("snap", ofData);
  const { status, metadata } = await cluster.onlyContent();
  expect(status?.error?.message).toContain(words);
  expect(status?.snapshotHandle).toBeUndefined();
  // Whether the driver has made a snapshot is unknown: it is asked again.
  expect(metadata.annotations).toMatchObject({ [annotations.beingCreated]: "yes" });
  cluster.driver.script("CreateSnapshot", undefined);
  await cluster.clock.advance(2_000);
  await cluster.settle();
  expect((await cluster.get("snap"))?.status).toMatchObject({ readyToUse: true });
  expect((await cluster.onlyContent()).status?.error).toBeUndefined();
});

function blank() {
  return {
    snapshotId: "s",
    sourceVolumeId: "vol-data",
    creationTime: null,
    sizeBytes: "0",
    readyToUse: true,
    groupSnapshotId: "",
  };
}

it("a driver that hangs holds up its own snapshot alone", async () => {
  cluster = await snapshotCluster();
  await cluster.claim("data");
  await cluster.claim("other");
  let release = () => {};
  cluster.driver.script("CreateSnapshot", async ({ name, sourceVolumeId }) => {
    if (sourceVolumeId === "vol-data") await new Promise<void>((resolve) => (release = resolve));
    return { snapshot: { ...blank(), snapshotId: `made-${name}`, sourceVolumeId } };
  });
  await cluster.snapshot("snap", ofData);
  await cluster.snapshot("quick", { source: { persistentVolumeClaimName: "other" } });
  expect((await cluster.get("quick"))?.status).toMatchObject({ readyToUse: true });
  expect((await cluster.get("snap"))?.status).toMatchObject({ readyToUse: false });
  release();
  await cluster.settle();
  expect((await cluster.get("snap"))?.status).toMatchObject({ readyToUse: true });
});

it("a snapshot that has lost its content says so, and is not made anew of another point in time", async () => {
  cluster = await snapshotCluster();
  await cluster.claim("data");
  await cluster.snapshot("snap", ofData);
  const { metadata } = await cluster.onlyContent();
  const apiVersion = "snapshot.storage.k8s.io/v1";
  const all = cluster.client.of({
    apiVersion,
    kind: "VolumeSnapshotContent",
    plural: "volumesnapshotcontents",
    namespaced: false,
  });
  await all.delete(metadata.name ?? "");
  await all.patch(metadata.name ?? "", { type: "merge", object: { metadata: { finalizers: null } } });
  await cluster.settle();
  expect((await cluster.get("snap"))?.status).toMatchObject({
    readyToUse: false,
    error: { message: "VolumeSnapshotContent is missing" },
  });
  expect(await cluster.contents()).toEqual([]);
  await cluster.remove("snap");
  expect(await cluster.get("snap")).toBeUndefined();
});

it("a deletion that the driver refuses is tried again", async () => {
  cluster = await snapshotCluster();
  await cluster.claim("data");
  await cluster.snapshot("snap", ofData);
  cluster.driver.script("DeleteSnapshot", () => {
    throw new GrpcError("FAILED_PRECONDITION", "in use");
  });
  await cluster.remove("snap");
  expect(await cluster.events()).toContain("SnapshotDeleteError: Failed to delete snapshot");
  expect((await cluster.get("snap"))?.metadata.finalizers).toEqual([finalizers.snapshotBound]);
  cluster.driver.script("DeleteSnapshot", undefined);
  await cluster.clock.advance(1_000);
  await cluster.settle();
  expect(await cluster.get("snap")).toBeUndefined();
  expect(await cluster.contents()).toEqual([]);
});

it("a driver gets the Secret that its class names, if the snapshotter may read it", async () => {
  cluster = await snapshotCluster();
  const { client } = cluster;
  const apiVersion = "snapshot.storage.k8s.io/v1";
  const { kind, plural } = { kind: "VolumeSnapshotClass", plural: "volumesnapshotclasses" };
  const parameters = {
    speed: "fast",
    "csi.storage.k8s.io/snapshotter-secret-name": "key",
    "csi.storage.k8s.io/snapshotter-secret-namespace": "default",
  };
  const secured = { driver: DRIVER, deletionPolicy: "Delete", parameters };
  await client
    .of({ apiVersion, kind, plural, namespaced: false })
    .create({ apiVersion, kind, metadata: { name: "secured" }, ...secured } as never);
  await client
    .of(kinds.Secret)
    .in("default")
    .create({ metadata: { name: "key" }, data: { token: Buffer.from("t0p").toString("base64") } });
  await cluster.claim("data");
  await cluster.snapshot("snap", { ...ofData, volumeSnapshotClassName: "secured" });
  expect((await cluster.get("snap"))?.status?.error?.message).toContain(
    "failed to get input parameters to create snapshot for content",
  );
  expect(cluster.driver.calls).toEqual([]);
  const rules = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];
  await client.of(kinds.ClusterRole).create({ metadata: { name: "secrets" }, rules });
  await client.of(kinds.ClusterRoleBinding).create({
    metadata: { name: "secrets" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "secrets" },
    subjects: [{ kind: "ServiceAccount", name: "csi-snapshotter", namespace: "kube-system" }],
  });
  await cluster.settle();
  await cluster.clock.advance(2_000);
  await cluster.settle();
  expect((await cluster.get("snap"))?.status).toMatchObject({ readyToUse: true });
  const given = { parameters: { speed: "fast" }, secrets: { token: "t0p" } };
  expect(cluster.driver.calls).toMatchObject([{ method: "CreateSnapshot", request: given }]);
  await cluster.remove("snap");
  expect(cluster.driver.calls.at(-1)).toMatchObject({
    method: "DeleteSnapshot",
    request: { secrets: { token: "t0p" } },
  });
  expect(JSON.stringify(await cluster.events())).not.toContain("t0p");
});
