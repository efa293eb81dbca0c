/**
 * All groups and versions that Kubernetes v1.36 has code for, served or not: `--runtime-config` may name them, and
 * OpenAPI v2 lists them for the types that all share.
 */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export const KNOWN_VERSIONS: readonly GroupVersion[] = `
  - v1
  admission.k8s.io v1 v1beta1
  admissionregistration.k8s.io v1 v1alpha1 v1beta1
  apiextensions.k8s.io v1 v1beta1
  apiregistration.k8s.io v1 v1beta1
  apps v1 v1beta1 v1beta2
  authentication.k8s.io v1 v1alpha1 v1beta1
  authorization.k8s.io v1 v1beta1
  autoscaling v1 v2
  batch v1 v1beta1
  certificates.k8s.io v1 v1alpha1 v1beta1
  coordination.k8s.io v1 v1alpha2 v1beta1
  discovery.k8s.io v1 v1beta1
  events.k8s.io v1 v1beta1
  extensions v1beta1
  flowcontrol.apiserver.k8s.io v1 v1beta1 v1beta2 v1beta3
  imagepolicy.k8s.io v1alpha1
  internal.apiserver.k8s.io v1alpha1
  networking.k8s.io v1 v1beta1
  node.k8s.io v1 v1alpha1 v1beta1
  policy v1 v1beta1
  rbac.authorization.k8s.io v1 v1alpha1 v1beta1
  resource.k8s.io v1 v1alpha3 v1beta1 v1beta2
  scheduling.k8s.io v1 v1alpha2 v1beta1
  storage.k8s.io v1 v1alpha1 v1beta1
  storagemigration.k8s.io v1beta1`
  .trim()
  .split("\n")
  .flatMap((line) => {
    const [group = "", ...versions] = line.trim().split(" ");
    return versions.map((version) => ({ group: group === "-" ? "" : group, version }));
  });
