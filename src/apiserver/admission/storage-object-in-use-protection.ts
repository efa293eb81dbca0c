/** Volumes and claims that are in use outlive their deletion: a finalizer holds them until nobody needs them. */
import type { Draft, KubeObject } from "#api";
import { type AdmissionPlugin, isAbout } from "./plugin.ts";

const FINALIZERS: Readonly<Record<string, string>> = {
  persistentvolumes: "kubernetes.io/pv-protection",
  persistentvolumeclaims: "kubernetes.io/pvc-protection",
};

export const storageObjectInUseProtection: AdmissionPlugin = {
  name: "StorageObjectInUseProtection",
  mutate(attributes) {
    const { plural } = attributes.resource.kind.names;
    const finalizer = FINALIZERS[plural];
    if (attributes.operation !== "CREATE" || finalizer === undefined || !isAbout(attributes, "", plural)) return;
    const { metadata } = attributes.object as Draft<KubeObject>;
    if (!(metadata.finalizers ?? []).includes(finalizer))
      metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
  },
};
