/** Which group and version a type belongs to, and which of them share the types of meta/v1. */
import { builtIn, typeSchema } from "#api";
import type { GroupVersionKind } from "./operation.ts";
import { NAMED_FORMS } from "./type-names.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
/** Types that are registered in every group and version, not only in core. */
const EVERYWHERE = new Set([`${META}.DeleteOptions`, `${META}.WatchEvent`]);

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** All that Kubernetes v1.36 has code for, served or not: OpenAPI v2 lists them for the types that all share. */
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

/**
 * x-kubernetes-group-version-kind of a type; `shared`: what the document shows for types that are registered
 * everywhere.
 */
export type KindsOfType = (typeName: string, shared: readonly GroupVersion[]) => readonly GroupVersionKind[];

export function kindsOfTypes(): KindsOfType {
  const homes = new Map<string, GroupVersion>([[META, { group: "", version: "v1" }]]);
  for (const { schema, group, version } of builtIn) homes.set(packageOf(schema.goType ?? ""), { group, version });
  return (typeName, shared) => {
    const kind = typeName.slice(typeName.lastIndexOf(".") + 1);
    const home = homes.get(packageOf(typeName));
    if (EVERYWHERE.has(typeName)) return shared.map((it) => ({ group: it.group, version: it.version, kind }));
    return home !== undefined && hasTypeMeta(typeName) ? [{ ...home, kind }] : [];
  };
}

/** Protobuf does not carry the kind and apiVersion of an object; those of a reference it does. */
function hasTypeMeta(typeName: string): boolean {
  if (NAMED_FORMS.has(typeName)) return false;
  const { fields } = typeSchema(typeName);
  return fields.get("kind")?.number === 0 && fields.get("apiVersion")?.number === 0;
}

function packageOf(typeName: string): string {
  return typeName.slice(0, typeName.lastIndexOf("."));
}
