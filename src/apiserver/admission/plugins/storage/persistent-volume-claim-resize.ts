/** PersistentVolumeClaimResize: a claim may grow only if it is bound and its StorageClass allows expansion. */
import { compareQuantities, type core, parseQuantity, type storage, storageClassOf, zeroQuantity } from "#api";
import { type AdmissionPlugin, type ClusterView, refused, rule } from "../../chain/plugin.ts";

export const persistentVolumeClaimResize: AdmissionPlugin = {
  name: "PersistentVolumeClaimResize",
  validates: [
    rule("UPDATE", "persistentvolumeclaims", (attributes, cluster) => {
      const claim = attributes.object as core.PersistentVolumeClaim;
      const old = attributes.old as core.PersistentVolumeClaim;
      if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return;
      if (old.status?.phase !== "Bound")
        throw refused(attributes, "Only bound persistent volume claims can be expanded");
      if (!mayGrow(claim, old, cluster)) {
        const why =
          "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
        throw refused(attributes, why);
      }
    }),
  ],
};

function sizeOf({ spec }: core.PersistentVolumeClaim) {
  const size = spec?.resources?.requests?.storage;
  return size === undefined ? zeroQuantity : parseQuantity(size);
}

function mayGrow(claim: core.PersistentVolumeClaim, old: core.PersistentVolumeClaim, cluster: ClusterView): boolean {
  const name = storageClassOf(claim);
  if (name === "" || name !== storageClassOf(old)) return false;
  const found = cluster.get<storage.StorageClass>("storage.k8s.io", "v1", "storageclasses", "", name);
  return found?.allowVolumeExpansion === true;
}
