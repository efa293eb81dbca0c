/**
 * A CSI driver attaches so many volumes to a node and no more; CSINode says how many.
 *
 * 1. A volume that several Pods of a node use counts once. One that is still to be made counts for the driver that will make it.
 * 2. What is attached to a node is worked out once for each of its generations, and again after a claim, a volume or a class has changed.
 */
import type { core } from "#api";
import {
  definePlugin,
  type NodeInfo,
  PASS,
  type PluginFactory,
  type PodInfo,
  type Prepared,
  ready,
  rejected,
  rejectionsOf,
  SKIP,
} from "../framework/index.ts";
import { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../kinds.ts";
import { claimNotFound, claimUses, classOfClaim, type VolumeObjects, volumeObjects } from "./volume-objects.ts";

const NAME = "NodeVolumeLimits";
const rejections = rejectionsOf(NAME);
const TOO_MANY = rejections.unschedulable("node(s) exceed max volume count");

/** Volumes by driver. */
type Attached = ReadonlyMap<string, ReadonlySet<string>>;

export const nodeVolumeLimits: PluginFactory = {
  name: NAME,
  make(_, { informers }) {
    const objects = volumeObjects(informers);
    let epoch = 0;
    const changed = () => {
      epoch++;
    };
    informers.of(PersistentVolumeClaim).onChange(changed);
    informers.of(PersistentVolume).onChange(changed);
    informers.of(StorageClass).onChange(changed);
    const known = new Map<
      number,
      { readonly generation: number; readonly epoch: number; readonly attached: Attached }
    >();

    const attachedTo = (node: NodeInfo): Attached => {
      const before = known.get(node.index);
      if (before?.generation === node.generation && before.epoch === epoch) return before.attached;
      const attached = volumesOf(node.claims.keys(), objects);
      known.set(node.index, { generation: node.generation, epoch, attached });
      return attached;
    };

    return definePlugin<Attached>({
      name: NAME,
      wakes: [
        { resource: "CSINode", actions: ["add", "update"] },
        {
          resource: "AssignedPod",
          actions: ["delete"],
          hint: (_pod, { old }) => (claimUses(old as core.Pod).length > 0 ? "queue" : "skip"),
        },
        {
          resource: "PersistentVolumeClaim",
          actions: ["add"],
          hint: ({ claims }, { new: claim }) =>
            claims.includes(`${claim?.metadata.namespace}/${claim?.metadata.name}`) ? "queue" : "skip",
        },
      ],
      filter: {
        reads: "cluster",
        prepare: (pod) => prepare(pod, objects),
        check(wanted, node) {
          const drivers = objects.csiNode(node.name)?.spec?.drivers ?? [];
          for (const { name, allocatable } of drivers) {
            const own = wanted.get(name);
            if (own === undefined || allocatable?.count === undefined) continue;
            const there = attachedTo(node).get(name) ?? NONE;
            let added = 0;
            for (const volume of own) if (!there.has(volume)) added++;
            if (added > 0 && there.size + added > allocatable.count) return TOO_MANY;
          }
          return PASS;
        },
      },
    });
  },
};

const NONE: ReadonlySet<string> = new Set();

function prepare(pod: PodInfo, objects: VolumeObjects): Prepared<Attached> {
  if (pod.claims.length === 0) return SKIP;
  for (const { name, key } of claimUses(pod.pod))
    if (objects.claim(key) === undefined)
      return rejected(rejections.unresolvable(`looking up PVC ${key}: ${claimNotFound(name)}`));
  const wanted = volumesOf(pod.claims, objects);
  return wanted.size === 0 ? SKIP : ready(wanted);
}

function volumesOf(claims: Iterable<string>, objects: VolumeObjects): Attached {
  const volumes = new Map<string, Set<string>>();
  for (const key of claims) {
    const found = volumeOf(key, objects);
    if (found === undefined) continue;
    const [driver, volume] = found;
    const own = volumes.get(driver);
    if (own === undefined) volumes.set(driver, new Set([volume]));
    else own.add(volume);
  }
  return volumes;
}

/** Driver and handle; undefined where no CSI driver has to do with it. */
function volumeOf(key: string, objects: VolumeObjects): readonly [driver: string, volume: string] | undefined {
  const claim = objects.claim(key);
  if (claim === undefined) return undefined;
  const volume = objects.volume(claim.spec?.volumeName ?? "");
  if (volume !== undefined) {
    const csi = volume.spec?.csi;
    return csi === undefined ? undefined : [csi.driver, csi.volumeHandle];
  }
  const provisioner = objects.storageClass(classOfClaim(claim))?.provisioner;
  return provisioner === undefined ? undefined : [provisioner, `unmade ${key}`];
}
