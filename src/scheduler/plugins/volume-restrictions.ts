/**
 * VolumeRestrictions: disks that can be mounted once on a node, and claims with ReadWriteOncePod.
 *
 * 1. If any Pod of the cluster uses a claim with ReadWriteOncePod, no node fits until that Pod is gone.
 * 2. A disk in a Pod's spec can be on a node once, unless all mounts are read-only.
 */
import type { core } from "#api";
import {
  type ClusterView,
  definePlugin,
  type NodeInfo,
  PASS,
  type PluginFactory,
  type PodInfo,
  type Prepared,
  type Rejections,
  ready,
  rejected,
  rejectionsOf,
  SKIP,
} from "../framework/index.ts";
import { claimNotFound, claimUses, type VolumeObjects, volumeObjects } from "./volume-objects.ts";

const NAME = "VolumeRestrictions";
const DISK_TAKEN = rejectionsOf(NAME).unschedulable("node(s) had no available disk");
const CLAIM_TAKEN = rejectionsOf(NAME).unschedulable(
  "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
);

interface State {
  /** The Pod's disks. */
  readonly disks: readonly core.Volume[];
  /** Keys of claims with ReadWriteOncePod. */
  readonly exclusive: readonly string[];
  /** Number of Pods that use one of them. */
  readonly users: number;
}

export const volumeRestrictions: PluginFactory = {
  name: NAME,
  make(_, { informers }) {
    const rejections = rejectionsOf(NAME);
    const objects = volumeObjects(informers);
    return definePlugin<State>({
      name: NAME,
      wakes: [
        {
          resource: "AssignedPod",
          actions: ["delete"],
          hint: (pod, { old }) => (collides(pod, old as core.Pod) ? "queue" : "skip"),
        },
        { resource: "Node", actions: ["add"] },
        {
          resource: "PersistentVolumeClaim",
          actions: ["add"],
          hint: (pod, event) => (uses(pod, event.new as core.PersistentVolumeClaim) ? "queue" : "skip"),
        },
      ],
      filter: {
        reads: "cluster",
        prepare: (pod, view) => prepare(pod, view, objects, rejections),
        check(state, node) {
          if (state.disks.some((disk) => isOn(disk, node))) return DISK_TAKEN;
          return state.users > 0 ? CLAIM_TAKEN : PASS;
        },
        withPod: (state, pod) => ({ ...state, users: state.users + usesOf(pod, state) }),
        withoutPod: (state, pod) => ({ ...state, users: state.users - usesOf(pod, state) }),
      },
    });
  },
};

function prepare(pod: PodInfo, view: ClusterView, objects: VolumeObjects, rejections: Rejections): Prepared<State> {
  const disks = (pod.pod.spec?.volumes ?? []).filter(isDisk);
  const exclusive: string[] = [];
  for (const { name, key, ephemeral } of pod.claims.length === 0 ? [] : claimUses(pod.pod)) {
    if (ephemeral) continue;
    const claim = objects.claim(key);
    if (claim === undefined) return rejected(rejections.unresolvable(claimNotFound(name)));
    if (claim.spec?.accessModes?.includes("ReadWriteOncePod")) exclusive.push(key);
  }
  const users = exclusive.length === 0 ? 0 : usersOf(exclusive, view);
  return disks.length === 0 && users === 0 ? SKIP : ready({ disks, exclusive, users });
}

function usersOf(claims: readonly string[], { nodes }: ClusterView): number {
  let users = 0;
  for (const node of nodes) for (const key of claims) users += node?.claims.get(key) ?? 0;
  return users;
}

function usesOf({ claims }: PodInfo, { exclusive }: State): number {
  return claims.filter((key) => exclusive.includes(key)).length;
}

function isDisk({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: core.Volume): boolean {
  return (gcePersistentDisk ?? awsElasticBlockStore ?? iscsi ?? rbd) !== undefined;
}

function isOn(disk: core.Volume, { pods }: NodeInfo): boolean {
  for (const { pod } of pods.values())
    if ((pod.spec?.volumes ?? []).some((other) => isSameDisk(disk, other))) return true;
  return false;
}

function isSameDisk(a: core.Volume, b: core.Volume): boolean {
  const [gce, otherGce] = [a.gcePersistentDisk, b.gcePersistentDisk];
  if (gce !== undefined && gce.pdName === otherGce?.pdName && !bothRead(gce, otherGce)) return true;
  const ebs = a.awsElasticBlockStore;
  if (ebs !== undefined && ebs.volumeID === b.awsElasticBlockStore?.volumeID) return true;
  const [iscsi, otherIscsi] = [a.iscsi, b.iscsi];
  if (iscsi !== undefined && iscsi.iqn === otherIscsi?.iqn && !bothRead(iscsi, otherIscsi)) return true;
  const [rbd, otherRbd] = [a.rbd, b.rbd];
  if (rbd === undefined || otherRbd === undefined || bothRead(rbd, otherRbd)) return false;
  const isSameImage = (rbd.pool ?? "rbd") === (otherRbd.pool ?? "rbd") && rbd.image === otherRbd.image;
  return isSameImage && rbd.monitors.some((monitor) => otherRbd.monitors.includes(monitor));
}

function bothRead(a: { readonly readOnly?: boolean }, b: { readonly readOnly?: boolean }): boolean {
  return a.readOnly === true && b.readOnly === true;
}

function collides({ pod, namespace, claims }: PodInfo, gone: core.Pod): boolean {
  if (gone.metadata.namespace === namespace && claimUses(gone).some(({ key }) => claims.includes(key))) return true;
  const disks = (pod.spec?.volumes ?? []).filter(isDisk);
  return disks.some((disk) => (gone.spec?.volumes ?? []).some((other) => isSameDisk(disk, other)));
}

function uses({ claims }: PodInfo, { metadata }: core.PersistentVolumeClaim): boolean {
  return claims.includes(`${metadata.namespace}/${metadata.name}`);
}
