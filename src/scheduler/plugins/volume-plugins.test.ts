/** The plugins that look at volumes, case by case: by the plain rules and by the plugins themselves. */

import { describe, expect, it } from "vitest";
import { type core, kinds, type storage } from "#api";
import { FastCluster } from "../testing/fast-cluster.ts";
import { DEFAULT_PROFILE, node, type PlainCluster, plainDecision, pod } from "../testing/index.ts";

const ZONE = "topology.kubernetes.io/zone";
const DRIVER = "disks.example.com";

const claim = (name: string, more: Partial<core.PersistentVolumeClaim["spec"]> = {}): core.PersistentVolumeClaim => ({
  metadata: {
    name,
    namespace: "default",
    uid: name,
    annotations: more?.volumeName === undefined ? {} : { "pv.kubernetes.io/bind-completed": "yes" },
  },
  spec: {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "later",
    resources: { requests: { storage: "1Gi" } },
    ...more,
  },
});

const volume = (name: string, labels: Record<string, string> = {}): core.PersistentVolume => ({
  metadata: { name, labels },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    storageClassName: "later",
    csi: { driver: DRIVER, volumeHandle: name },
  },
  status: { phase: "Bound" },
});

const later: storage.StorageClass = {
  metadata: { name: "later" },
  provisioner: DRIVER,
  volumeBindingMode: "WaitForFirstConsumer",
};
const atOnce: storage.StorageClass = { ...later, metadata: { name: "at-once" }, volumeBindingMode: "Immediate" };

const uses = (...claims: string[]): core.Volume[] =>
  claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
const on = (name: string, at: string, volumes: core.Volume[]) => pod(name, { on: at, spec: { volumes, nodeName: at } });
const gce = (readOnly: boolean): core.Volume[] => [{ name: "d", gcePersistentDisk: { pdName: "disk", readOnly } }];
const rbd = (...monitors: string[]): core.Volume[] => [{ name: "r", rbd: { monitors, image: "img" } }];
const csiNode = (name: string, count: number): storage.CSINode => ({
  metadata: { name },
  spec: { drivers: [{ name: DRIVER, nodeID: name, allocatable: { count } }] },
});

const attachment = (name: string, nodeName: string, persistentVolumeName: string): storage.VolumeAttachment => ({
  metadata: { name },
  spec: { attacher: DRIVER, nodeName, source: { persistentVolumeName } },
});

interface Case {
  readonly name: string;
  readonly volumes: core.Volume[];
  readonly cluster?: Partial<PlainCluster>;
  /** By node; undefined: it fits. */
  readonly want: { readonly a?: string; readonly b?: string };
}

const everywhere = (reason: string) => ({ a: reason, b: reason });
const NO_DISK = "node(s) had no available disk";
const TAKEN = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode";
const NO_ZONE = "node(s) had no available volume zone";
const TOO_MANY = "node(s) exceed max volume count";

const cases: readonly Case[] = [
  {
    name: "a disk that is written to elsewhere on the node",
    volumes: gce(false),
    cluster: { pods: [on("o", "a", gce(false))] },
    want: { a: NO_DISK },
  },
  { name: "a disk that all read", volumes: gce(true), cluster: { pods: [on("o", "a", gce(true))] }, want: {} },
  {
    name: "an EBS volume, even for reading",
    volumes: [{ name: "e", awsElasticBlockStore: { volumeID: "e", readOnly: true } }],
    cluster: { pods: [on("o", "b", [{ name: "e", awsElasticBlockStore: { volumeID: "e", readOnly: true } }])] },
    want: { b: NO_DISK },
  },
  {
    name: "iSCSI by its name",
    volumes: [{ name: "i", iscsi: { targetPortal: "p", iqn: "q", lun: 0 } }],
    cluster: { pods: [on("o", "a", [{ name: "i", iscsi: { targetPortal: "r", iqn: "q", lun: 1 } }])] },
    want: { a: NO_DISK },
  },
  {
    name: "an RBD image with a monitor in common",
    volumes: rbd("m1", "m2"),
    cluster: { pods: [on("o", "a", rbd("m2", "m3")), on("n", "b", rbd("m4"))] },
    want: { a: NO_DISK },
  },
  {
    name: "a claim for one Pod that has one",
    volumes: uses("c"),
    cluster: {
      pods: [on("o", "a", uses("c"))],
      persistentVolumeClaims: [claim("c", { accessModes: ["ReadWriteOncePod"], volumeName: "v" })],
      persistentVolumes: [volume("v")],
    },
    want: everywhere(TAKEN),
  },
  {
    name: "a claim that is not there",
    volumes: uses("none"),
    want: everywhere('persistentvolumeclaim "none" not found'),
  },
  {
    name: "a volume of a zone",
    volumes: uses("c"),
    cluster: {
      persistentVolumeClaims: [claim("c", { volumeName: "v" })],
      persistentVolumes: [volume("v", { [ZONE]: "z1" })],
    },
    want: { b: NO_ZONE },
  },
  {
    name: "a volume of two zones, by the label of old",
    volumes: uses("c"),
    cluster: {
      persistentVolumeClaims: [claim("c", { volumeName: "v" })],
      persistentVolumes: [volume("v", { "failure-domain.beta.kubernetes.io/zone": "z1__z2" })],
    },
    want: {},
  },
  {
    name: "a volume that is gone",
    volumes: uses("c"),
    cluster: { persistentVolumeClaims: [claim("c", { volumeName: "v" })] },
    want: everywhere('persistentvolume "v" not found'),
  },
  {
    name: "a claim that should be bound already",
    volumes: uses("c"),
    cluster: { persistentVolumeClaims: [claim("c", { storageClassName: "at-once" })] },
    want: everywhere("pod has unbound immediate PersistentVolumeClaims"),
  },
  {
    name: "a node that has as many volumes as it may",
    volumes: uses("c2"),
    cluster: {
      pods: [on("o", "a", uses("c1"))],
      persistentVolumeClaims: [claim("c1", { volumeName: "v1" }), claim("c2", { volumeName: "v2" })],
      persistentVolumes: [volume("v1"), volume("v2")],
      csiNodes: [csiNode("a", 1), csiNode("b", 1)],
    },
    want: { a: TOO_MANY },
  },
  {
    name: "a volume that the node has already counts once",
    volumes: uses("c1"),
    cluster: {
      pods: [on("o", "a", uses("c1"))],
      persistentVolumeClaims: [claim("c1", { volumeName: "v1" })],
      persistentVolumes: [volume("v1")],
      csiNodes: [csiNode("a", 1)],
    },
    want: {},
  },
  {
    name: "volumes that are still to be made count, too",
    volumes: uses("c1", "c2"),
    cluster: { persistentVolumeClaims: [claim("c1"), claim("c2")], csiNodes: [csiNode("a", 1), csiNode("b", 2)] },
    want: { a: TOO_MANY },
  },
  {
    name: "a volume that is still attached although its Pod is gone",
    volumes: uses("c2"),
    cluster: {
      persistentVolumeClaims: [claim("c2", { volumeName: "v2" })],
      persistentVolumes: [volume("v1"), volume("v2")],
      csiNodes: [csiNode("a", 1), csiNode("b", 1)],
      volumeAttachments: [attachment("x", "a", "v1"), attachment("y", "b", "gone")],
    },
    want: { a: TOO_MANY },
  },
  {
    name: "a volume that is attached for a Pod counts once",
    volumes: uses("c2"),
    cluster: {
      pods: [on("o", "a", uses("c1"))],
      persistentVolumeClaims: [claim("c1", { volumeName: "v1" }), claim("c2", { volumeName: "v2" })],
      persistentVolumes: [volume("v1"), volume("v2")],
      csiNodes: [csiNode("a", 2)],
      volumeAttachments: [attachment("x", "a", "v1")],
    },
    want: {},
  },
  {
    name: "a claim that is made for the Pod and not there yet",
    volumes: [{ name: "scratch", ephemeral: {} }],
    want: everywhere('waiting for ephemeral volume controller to create the persistentvolumeclaim "p-scratch"'),
  },
];

describe("volumes", () => {
  const nodes = [node("a", { labels: { [ZONE]: "z1" } }), node("b", { labels: { [ZONE]: "z2" } })];

  it.each(cases)("$name", ({ volumes, cluster = {}, want }) => {
    const whole: PlainCluster = { nodes, pods: [], storageClasses: [later, atOnce], ...cluster };
    const wants = pod("p", { spec: { volumes } });
    const plain = plainDecision(wants, whole, DEFAULT_PROFILE);
    const fast = new FastCluster(whole).decide(wants);
    for (const name of ["a", "b"] as const) {
      const reasons = plain.preFilter?.reasons ?? [...(plain.failures.get(name)?.values() ?? [])][0]?.reasons;
      expect(reasons, `plain, ${name}`).toEqual(want[name] === undefined ? undefined : [want[name]]);
      expect(fast.rejections.get(name)?.reasons, `fast, ${name}`).toEqual(reasons);
    }
  });

  it("counts again when an attachment comes or goes, or its volume does", () => {
    const cluster = new FastCluster({
      nodes: [node("a")],
      pods: [],
      storageClasses: [later],
      persistentVolumeClaims: [claim("c2", { volumeName: "v2" })],
      persistentVolumes: [volume("v1"), volume("v2")],
      csiNodes: [csiNode("a", 1)],
    });
    const wants = pod("p", { spec: { volumes: uses("c2") } });
    const reasons = () => cluster.decide(wants).rejections.get("a")?.reasons;
    expect(reasons()).toBeUndefined();
    cluster.held.set(kinds.VolumeAttachment, attachment("x", "a", "v1"));
    expect(reasons()).toEqual([TOO_MANY]);
    cluster.held.delete(kinds.PersistentVolume, "v1");
    expect(reasons()).toBeUndefined();
    cluster.held.set(kinds.PersistentVolume, volume("v1"));
    expect(reasons()).toEqual([TOO_MANY]);
    cluster.held.delete(kinds.VolumeAttachment, "x");
    expect(reasons()).toBeUndefined();
  });
});
