/** StorageObjectInUseProtection: adds the finalizers that hold volumes, claims and classes while they are in use. */
import type { Draft, KubeObject } from "#api";
import { type AdmissionPlugin, type Admit, rule } from "../../chain/plugin.ts";

const held =
  (finalizer: string): Admit =>
  ({ object }) => {
    const { metadata } = object as Draft<KubeObject>;
    const finalizers = metadata.finalizers ?? [];
    if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
  };

export const storageObjectInUseProtection: AdmissionPlugin = {
  name: "StorageObjectInUseProtection",
  mutates: [
    rule("CREATE", "persistentvolumes", held("kubernetes.io/pv-protection")),
    rule("CREATE", "persistentvolumeclaims", held("kubernetes.io/pvc-protection")),
    rule("CREATE", "volumeattributesclasses.storage.k8s.io", held("kubernetes.io/vac-protection")),
  ],
};
