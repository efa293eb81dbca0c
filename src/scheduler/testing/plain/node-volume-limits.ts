/** The number of volumes that a CSI driver can attach to a node. */
import type { core, storage } from "#api";
import { claimNotFound, claimUses, classOf, isOwnedBy, volumeOf } from "./claims.ts";
import { nameOf, type PlainCluster, type PlainPlugin, podsOn, unresolvable, unschedulable } from "./cluster.ts";

export const nodeVolumeLimits: PlainPlugin = {
  name: "NodeVolumeLimits",
  filter({ pod, cluster }, node) {
    const uses = claimUses(pod, cluster);
    const lost = uses.find(({ claim }) => claim === undefined);
    if (lost !== undefined) {
      const where = `${pod.metadata.namespace}/${lost.name}`;
      return unresolvable(`looking up PVC ${where}: ${claimNotFound(lost.name)}`);
    }
    const limits = limitsOf(node, cluster);
    const used = new Set(podsOn(cluster, node).flatMap((other) => [...volumesOf(other, cluster)]));
    const wanted = [...volumesOf(pod, cluster)].filter((volume) => !used.has(volume));
    const attached = attachmentsOf(node, cluster).filter((volume) => !used.has(volume));
    for (const [driver, limit] of limits) {
      const added = wanted.filter((volume) => driverOf(volume) === driver).length;
      const there = [...used, ...attached].filter((volume) => driverOf(volume) === driver).length;
      if (added > 0 && there + added > limit) return unschedulable("node(s) exceed max volume count");
    }
    return undefined;
  },
};

function limitsOf(node: core.Node, { csiNodes = [] }: PlainCluster): ReadonlyMap<string, number> {
  const drivers = csiNodes.find(({ metadata }) => metadata.name === nameOf(node))?.spec?.drivers ?? [];
  return new Map(drivers.flatMap(limitOf));
}

function limitOf({ name, allocatable }: storage.CSINodeDriver): [string, number][] {
  return allocatable?.count === undefined ? [] : [[name, allocatable.count]];
}

/** `driver volume` for each CSI volume of the Pod, including unprovisioned ones. */
function volumesOf(pod: core.Pod, cluster: PlainCluster): ReadonlySet<string> {
  const volumes = new Set<string>();
  for (const { claim, ephemeral } of claimUses(pod, cluster)) {
    if (claim === undefined || (ephemeral && !isOwnedBy(claim, pod))) continue;
    const volume = volumeOf(claim, cluster);
    const csi = volume?.spec?.csi;
    if (csi !== undefined) volumes.add(`${csi.driver} ${csi.volumeHandle}`);
    const provisioner = volume === undefined ? classOf(claim, cluster)?.provisioner : undefined;
    if (provisioner !== undefined)
      volumes.add(`${provisioner} unmade ${claim.metadata.namespace}/${claim.metadata.name}`);
  }
  return volumes;
}

/** `driver volume` for each volume that is attached to the node. */
function attachmentsOf(node: core.Node, { volumeAttachments = [], persistentVolumes = [] }: PlainCluster): string[] {
  const found = volumeAttachments.flatMap(({ spec }) => {
    const volume = persistentVolumes.find(({ metadata }) => metadata.name === spec.source.persistentVolumeName);
    const handle = volume?.spec?.csi?.volumeHandle;
    return spec.nodeName === nameOf(node) && handle !== undefined ? [`${spec.attacher} ${handle}`] : [];
  });
  return [...new Set(found)];
}

function driverOf(volume: string): string {
  return volume.split(" ")[0] ?? "";
}
