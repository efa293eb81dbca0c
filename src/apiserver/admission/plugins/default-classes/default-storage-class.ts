/** DefaultStorageClass: a claim without a storage class gets the default one. */
import { type core, type Draft, hasStorageClass, type storage } from "#api";
import { type AdmissionPlugin, rule } from "../../chain/plugin.ts";
import { newestDefault } from "./default-class.ts";

const ANNOTATIONS = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

export const defaultStorageClass: AdmissionPlugin = {
  name: "DefaultStorageClass",
  mutates: [
    rule("CREATE", "persistentvolumeclaims", ({ object }, cluster) => {
      const claim = object as Draft<core.PersistentVolumeClaim>;
      if (hasStorageClass(claim as core.PersistentVolumeClaim)) return;
      const classes = cluster.list<storage.StorageClass>("storage.k8s.io", "v1", "storageclasses");
      const name = newestDefault(classes, ANNOTATIONS)?.metadata.name;
      if (name !== undefined) claim.spec = { ...claim.spec, storageClassName: name };
    }),
  ],
};
