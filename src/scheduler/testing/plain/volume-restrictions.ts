/** Disks and claims that only one node or one Pod may use. */
import type { core } from "#api";
import { claimNotFound, claimUses } from "./claims.ts";
import { type PlainPlugin, podsOn, unresolvable, unschedulable } from "./cluster.ts";

export const volumeRestrictions: PlainPlugin = {
  name: "VolumeRestrictions",
  preFilter({ pod, cluster }) {
    const lost = claimUses(pod, cluster).find(({ claim, ephemeral }) => claim === undefined && !ephemeral);
    return lost === undefined ? undefined : unresolvable(claimNotFound(lost.name));
  },
  filter({ pod, cluster }, node) {
    const volumes = pod.spec?.volumes ?? [];
    const there = podsOn(cluster, node).flatMap(({ spec }) => spec?.volumes ?? []);
    if (volumes.some((volume) => there.some((other) => collides(volume, other))))
      return unschedulable("node(s) had no available disk");
    const exclusive = claimUses(pod, cluster)
      .filter(({ claim, ephemeral }) => !ephemeral && claim?.spec?.accessModes?.includes("ReadWriteOncePod"))
      .map(({ name }) => name);
    const taken = cluster.nodes
      .flatMap((each) => podsOn(cluster, each))
      .some((other) => usesAny(other, exclusive, pod));
    return taken
      ? unschedulable("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode")
      : undefined;
  },
};

function usesAny(other: core.Pod, claims: readonly string[], pod: core.Pod): boolean {
  if (other.metadata.namespace !== pod.metadata.namespace) return false;
  return (other.spec?.volumes ?? []).some(({ persistentVolumeClaim }) =>
    claims.includes(persistentVolumeClaim?.claimName ?? ""),
  );
}

function collides(a: core.Volume, b: core.Volume): boolean {
  return sameGceDisk(a, b) || sameEbsVolume(a, b) || sameIscsi(a, b) || sameRbd(a, b);
}

function sameGceDisk({ gcePersistentDisk: a }: core.Volume, { gcePersistentDisk: b }: core.Volume): boolean {
  return a !== undefined && a.pdName === b?.pdName && !(a.readOnly === true && b.readOnly === true);
}

function sameEbsVolume({ awsElasticBlockStore: a }: core.Volume, { awsElasticBlockStore: b }: core.Volume): boolean {
  return a !== undefined && a.volumeID === b?.volumeID;
}

function sameIscsi({ iscsi: a }: core.Volume, { iscsi: b }: core.Volume): boolean {
  return a !== undefined && a.iqn === b?.iqn && !(a.readOnly === true && b.readOnly === true);
}

function sameRbd({ rbd: a }: core.Volume, { rbd: b }: core.Volume): boolean {
  if (a === undefined || b === undefined) return false;
  const shared = a.monitors.some((monitor) => b.monitors.includes(monitor));
  const same = (a.pool ?? "rbd") === (b.pool ?? "rbd") && a.image === b.image;
  return shared && same && !(a.readOnly === true && b.readOnly === true);
}
