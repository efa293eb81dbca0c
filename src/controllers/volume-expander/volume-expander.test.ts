import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { testControllers } from "../testing/index.ts";
import { volumeExpander } from "./index.ts";
import { planExpansion } from "./plan.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const claim = (request: string, capacity: string, annotations = {}): core.PersistentVolumeClaim => ({
  metadata: { name: "data", namespace: "default", uid: "u", annotations },
  spec: { volumeName: "pv", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: request } } },
  status: { phase: "Bound", capacity: { storage: capacity } },
});
const volume = (spec: core.PersistentVolumeSpec, annotations = {}): core.PersistentVolume => ({
  metadata: { name: "pv", annotations },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    claimRef: { namespace: "default", name: "data", uid: "u" },
    ...spec,
  },
});
const CSI = { csi: { driver: "d", volumeHandle: "h" } };
const EBS = { awsElasticBlockStore: { volumeID: "vol-1" } };
const RESIZER = "volume.kubernetes.io/storage-resizer";
const WAITING = "waiting for an external controller to expand this PVC";
const MIGRATED = "CSI migration enabled for kubernetes.io/aws-ebs; waiting for external resizer to expand the pvc";

describe("a claim", () => {
  it.each([
    { name: "of its size", of: claim("1Gi", "1Gi"), on: volume(CSI), notes: undefined, writes: 0 },
    { name: "smaller than its volume", of: claim("1Gi", "2Gi"), on: volume(CSI), notes: undefined, writes: 0 },
    { name: "that grows", of: claim("2Gi", "1Gi"), on: volume(CSI), notes: [WAITING], writes: 0 },
    {
      name: "whose file system has still to grow",
      of: claim("1Gi", "1Gi"),
      on: volume(CSI, { "volume.alpha.kubernetes.io/pre-resize-capacity": "1Gi" }),
      notes: [WAITING],
      writes: 0,
    },
    { name: "of an in-tree plugin", of: claim("2Gi", "1Gi"), on: volume(EBS), notes: [MIGRATED], writes: 1 },
    {
      name: "of an in-tree plugin that is handed over",
      of: claim("2Gi", "1Gi", { [RESIZER]: "ebs.csi.aws.com" }),
      on: volume(EBS),
      notes: [MIGRATED],
      writes: 0,
    },
  ])("$name", ({ of, on, notes, writes }) => {
    const plan = planExpansion(of, on);
    expect(plan?.events?.map(({ note }) => note)).toEqual(notes);
    expect((plan?.steps ?? []).flat()).toHaveLength(writes);
  });
});

describe("the running expander", () => {
  const cluster = async (spec: core.PersistentVolumeSpec) => {
    const running = await testControllers([volumeExpander]);
    open.push(() => running.close());
    const { client, settle } = running;
    await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
    const claims = client.of(kinds.PersistentVolumeClaim).in("default");
    const { uid: _, ...metadata } = claim("1Gi", "1Gi").metadata;
    const { spec: wanted, status } = claim("1Gi", "1Gi");
    const made = await claims.create({ metadata, spec: { ...wanted, storageClassName: "" } });
    await claims.updateStatus({ ...made, status: { ...status } });
    const claimRef = { namespace: "default", name: "data", uid: made.metadata.uid ?? "" };
    await client
      .of(kinds.PersistentVolume)
      .create(volume({ ...spec, claimRef, persistentVolumeReclaimPolicy: "Retain" }));
    await settle();
    const events = async () =>
      (await client.of(kinds.Event).list()).items.map(({ reason, note }) => `${reason} ${note}`);
    const grow = (storage: string) =>
      claims.patch("data", { type: "merge", object: { spec: { resources: { requests: { storage } } } } });
    return { ...running, claims, events, grow };
  };

  it("tells users when their request grows", async () => {
    const { grow, events, settle } = await cluster(CSI);
    expect(await events()).toEqual([]);
    await grow("2Gi");
    await settle();
    expect(await events()).toEqual([`ExternalExpanding ${WAITING}`]);
  });

  it("names the resizer of a migrated volume, within its permissions", async () => {
    const { grow, claims, settle } = await cluster(EBS);
    await grow("2Gi");
    await settle();
    expect((await claims.get("data")).metadata.annotations).toMatchObject({ [RESIZER]: "ebs.csi.aws.com" });
  });
});
