/**
 * Devices that are in use can be requested with admin access: only in namespaces that an administrator has labelled.
 * Checked for everybody, when a claim or a template is created; afterwards its spec does not change.
 */
import { type core, field, invalidStatus, type KubeObject, type resource } from "#api";
import type { Resource } from "../rest/resource.ts";
import type { WriteGuard } from "../rest/server-context.ts";

const LABEL = "resource.kubernetes.io/admin-access";

/** By `group/plural`. `onChange`: of claims that exist. */
export function adminAccessGuards(namespaces: Resource, onChange: WriteGuard): ReadonlyMap<string, WriteGuard> {
  const onCreate = guard(namespaces, (object) => (object as resource.ResourceClaim).spec);
  return new Map<string, WriteGuard>([
    ["resource.k8s.io/resourceclaims", (write) => (write.old === undefined ? onCreate(write) : onChange(write))],
    [
      "resource.k8s.io/resourceclaimtemplates",
      guard(namespaces, (object) => (object as resource.ResourceClaimTemplate).spec.spec),
    ],
  ]);
}

function guard(namespaces: Resource, specOf: (object: KubeObject) => resource.ResourceClaimSpec): WriteGuard {
  return ({ request, object, old }) => {
    if (old !== undefined) return;
    const requests = specOf(object).devices?.requests ?? [];
    const first = requests.findIndex(({ exactly }) => exactly?.adminAccess === true);
    if (first < 0) return;
    const namespace = namespaces.cache.get(request.namespace)?.object as core.Namespace | undefined;
    if (namespace?.metadata.labels?.[LABEL] === "true") return;
    const where = field.at("spec", "devices", "requests").index(first).child("adminAccess");
    const why = `admin access to devices requires the \`${LABEL}: true\` label on the containing namespace`;
    throw invalidStatus(request.resource.kind, object.metadata.name ?? "", [field.forbidden(where, why)]);
  };
}
