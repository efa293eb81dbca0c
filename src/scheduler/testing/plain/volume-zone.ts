/** Volumes with zone or region labels need nodes of that zone and region. */
import type { core } from "#api";
import { claimNotFound, claimUses, classNameOf, classOf, volumeOf } from "./claims.ts";
import { labelsOf, type PlainCluster, type PlainFailure, type PlainPlugin, unresolvable } from "./cluster.ts";

/** Deprecated labels and their successors. */
const KEYS: ReadonlyMap<string, string> = new Map([
  ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"],
  ["topology.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  ["topology.kubernetes.io/region", "topology.kubernetes.io/region"],
]);

export const volumeZone: PlainPlugin = {
  name: "VolumeZone",
  preFilter({ pod, cluster }) {
    const found = volumesOf(pod, cluster);
    return "reasons" in found ? found : undefined;
  },
  filter({ pod, cluster }, node) {
    const found = volumesOf(pod, cluster);
    const labels = labelsOf(node);
    if ("reasons" in found || ![...KEYS.keys()].some((key) => Object.hasOwn(labels, key))) return undefined;
    const reachable = found.volumes.every((volume) => allowedOn(volume, labels));
    return reachable ? undefined : unresolvable("node(s) had no available volume zone");
  },
};

type Found = PlainFailure | { readonly volumes: readonly core.PersistentVolume[] };

function volumesOf(pod: core.Pod, cluster: PlainCluster): Found {
  const volumes: core.PersistentVolume[] = [];
  for (const { name, ephemeral, claim } of claimUses(pod, cluster)) {
    if (ephemeral) continue;
    if (claim === undefined) return unresolvable(claimNotFound(name));
    const volumeName = claim.spec?.volumeName ?? "";
    if (volumeName !== "") {
      const volume = volumeOf(claim, cluster);
      if (volume === undefined) return unresolvable(`persistentvolume "${volumeName}" not found`);
      volumes.push(volume);
      continue;
    }
    const className = classNameOf(claim);
    if (className === "") return unresolvable("PersistentVolumeClaim had no pv name and storageClass name");
    const storageClass = classOf(claim, cluster);
    if (storageClass === undefined) return unresolvable(`storageclass.storage.k8s.io "${className}" not found`);
    if (storageClass.volumeBindingMode !== "WaitForFirstConsumer") return unresolvable("PersistentVolume had no name");
  }
  return { volumes };
}

function allowedOn({ metadata }: core.PersistentVolume, node: Readonly<Record<string, string>>): boolean {
  const wanted = Object.entries(metadata.labels ?? {}).filter(([key]) => KEYS.has(key));
  return wanted.every(([key, zones]) => {
    const own = node[key] ?? node[KEYS.get(key) ?? ""];
    const list = zones.split("__").map((zone) => zone.trim());
    return list.includes("") || (own !== undefined && list.includes(own));
  });
}
