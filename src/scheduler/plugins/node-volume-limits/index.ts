/**
 * NodeVolumeLimits: the number of volumes that a CSI driver can attach to a node, from CSINode.
 *
 * 1. A volume that several Pods of a node use counts once. A volume that is not provisioned yet counts for its driver,
 *    and one whose Pod is gone counts until it is detached.
 * 2. Most nodes have room for all volumes of a Pod: only on the others is it checked which of them are attached
 *    already.
 */
import type { core, storage } from "#api";
import {
  definePlugin,
  type NodeInfo,
  type OpenNodes,
  PASS,
  type PluginFactory,
  type PodInfo,
  type Prepared,
  type Rejection,
  type Rejections,
  ready,
  rejectionsOf,
  SKIP,
} from "../../framework/index.ts";
import { claimNotFound, claimUses, type VolumeObjects, volumeObjects } from "../volume-objects.ts";
import { type Attached, attachedTo, limitOf, volumesOf } from "./attached.ts";
import { VolumeRoom } from "./volume-room.ts";

const NAME = "NodeVolumeLimits";
const TOO_MANY = rejectionsOf(NAME).unschedulable("node(s) exceed max volume count");

interface State {
  readonly wanted: Attached;
  /** A claim is missing. VolumeBinding, if enabled, has rejected the Pod already. */
  readonly lost: Rejection | undefined;
}

export const nodeVolumeLimits: PluginFactory = {
  name: NAME,
  make(_, { informers, view }) {
    const rejections = rejectionsOf(NAME);
    const objects = volumeObjects(informers);
    const room = new VolumeRoom(view, objects, informers);
    return definePlugin<State>({
      name: NAME,
      wakes: [
        { resource: "CSINode", actions: ["add"] },
        {
          resource: "CSINode",
          actions: ["update"],
          hint: (_pod, event) =>
            takesMore(event.old as storage.CSINode, event.new as storage.CSINode) ? "queue" : "skip",
        },
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
        {
          resource: "VolumeAttachment",
          actions: ["delete"],
          hint: ({ claims }) => (claims.length > 0 ? "queue" : "skip"),
        },
      ],
      filter: {
        reads: "cluster",
        prepare: (pod) => (pod.claims.length === 0 ? SKIP : prepare(pod, objects, rejections)),
        check({ wanted, lost }, node) {
          if (lost !== undefined) return lost;
          for (const [driver, volumes] of wanted)
            if (!room.has(node, driver, volumes.size) && !fits(driver, volumes, node, objects)) return TOO_MANY;
          return PASS;
        },
        sweep({ wanted, lost }, open) {
          if (lost !== undefined) rejectAll(open, lost);
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

function prepare(pod: PodInfo, objects: VolumeObjects, rejections: Rejections): Prepared<State> {
  const missing = claimUses(pod.pod).find(({ key }) => objects.claim(key) === undefined);
  if (missing !== undefined) {
    const lost = rejections.unresolvable(`looking up PVC ${missing.key}: ${claimNotFound(missing.name)}`);
    return ready({ wanted: new Map(), lost });
  }
  const wanted = volumesOf(pod.claims, objects);
  return wanted.size === 0 ? SKIP : ready({ wanted, lost: undefined });
}

/** Whether the limit of a driver was raised; without a limit it is infinite. */
function takesMore(old: storage.CSINode, now: storage.CSINode): boolean {
  const limit = ({ spec }: storage.CSINode, driver: string) =>
    spec.drivers?.find(({ name }) => name === driver)?.allocatable?.count ?? Number.POSITIVE_INFINITY;
  return (old.spec.drivers ?? []).some(({ name }) => limit(now, name) > limit(old, name));
}

function rejectAll(open: OpenNodes, rejection: Rejection): void {
  for (let at = 0; at < open.count; at++) open.reject(open.indexes[at] ?? 0, rejection);
}

function fits(driver: string, wanted: ReadonlySet<string>, node: NodeInfo, objects: VolumeObjects): boolean {
  const limit = limitOf(node.name, driver, objects);
  if (limit === undefined) return true;
  const used = volumesOf(node.claims.keys(), objects).get(driver) ?? new Set<string>();
  let added = 0;
  for (const volume of wanted) if (!used.has(volume)) added++;
  return added === 0 || used.union(new Set(attachedTo(node.name, driver, objects))).size + added <= limit;
}
