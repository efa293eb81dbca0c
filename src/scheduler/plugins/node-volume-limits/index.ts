/**
 * A CSI driver attaches so many volumes to a node and no more; CSINode says how many.
 *
 * 1. A volume that several Pods of a node use counts once. One that is still to be made counts for the driver that will make it.
 * 2. Most nodes have room for all that a Pod brings: whether it brings something that is there already is asked only where they have not.
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
} from "../../framework/index.ts";
import { claimNotFound, claimUses, type VolumeObjects, volumeObjects } from "../volume-objects.ts";
import { type Attached, limitOf, volumesOf } from "./attached.ts";
import { VolumeRoom } from "./volume-room.ts";

const NAME = "NodeVolumeLimits";
const rejections = rejectionsOf(NAME);
const TOO_MANY = rejections.unschedulable("node(s) exceed max volume count");

export const nodeVolumeLimits: PluginFactory = {
  name: NAME,
  make(_, { informers, view }) {
    const objects = volumeObjects(informers);
    const room = new VolumeRoom(view, objects, informers);
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
        prepare: (pod) => (pod.claims.length === 0 ? SKIP : prepare(pod, objects)),
        check(wanted, node) {
          for (const [driver, volumes] of wanted)
            if (!room.has(node, driver, volumes.size) && !fits(driver, volumes, node, objects)) return TOO_MANY;
          return PASS;
        },
        sweep(wanted, open) {
          const refused = new Set<number>();
          for (const [driver, volumes] of wanted)
            room.eachWithout(driver, volumes.size, open, (node) => {
              if (refused.has(node.index) || fits(driver, volumes, node, objects)) return;
              refused.add(node.index);
              open.reject(node.index, TOO_MANY);
            });
        },
      },
    });
  },
};

function prepare(pod: PodInfo, objects: VolumeObjects): Prepared<Attached> {
  for (const { name, key } of claimUses(pod.pod))
    if (objects.claim(key) === undefined)
      return rejected(rejections.unresolvable(`looking up PVC ${key}: ${claimNotFound(name)}`));
  const wanted = volumesOf(pod.claims, objects);
  return wanted.size === 0 ? SKIP : ready(wanted);
}

function fits(driver: string, wanted: ReadonlySet<string>, node: NodeInfo, objects: VolumeObjects): boolean {
  const limit = limitOf(node.name, driver, objects);
  if (limit === undefined) return true;
  const there = volumesOf(node.claims.keys(), objects).get(driver) ?? new Set<string>();
  let added = 0;
  for (const volume of wanted) if (!there.has(volume)) added++;
  return added === 0 || there.size + added <= limit;
}
