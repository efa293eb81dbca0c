/** Tokens that a kubelet requests: only for Pods on its node, and for audiences that their volumes need. */
import { type authentication, type core, goQuote, notFound, type storage } from "#api";
import { resourceAttributes } from "../../../authz/attributes.ts";
import { type Authorizer, isAllowed } from "../../../authz/authorizer.ts";
import { type ClusterView, refused } from "../../chain/plugin.ts";
import type { NodeCheck } from "./node-check.ts";

export function checkToken(authorize: Authorizer): NodeCheck {
  return async (node, attributes, cluster) => {
    const { spec = {} } = attributes.object as unknown as authentication.TokenRequest;
    const ref = spec.boundObjectRef ?? undefined;
    if (ref === undefined || ref.apiVersion !== "v1" || ref.kind !== "Pod" || !ref.name)
      throw refused(attributes, "node requested token not bound to a pod");
    if (!ref.uid) throw refused(attributes, "node requested token with a pod binding without a uid");
    const pod = cluster.get<core.Pod>("", "v1", "pods", attributes.namespace, ref.name);
    if (pod === undefined) throw notFound({ group: "", resource: "pods" }, ref.name);
    if (ref.uid !== pod.metadata.uid) {
      throw refused(
        attributes,
        `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    }
    if (pod.spec?.nodeName !== node)
      throw refused(attributes, "node requested token bound to a pod scheduled on a different node");
    const [audience = "", another] = spec.audiences ?? [];
    if (another !== undefined) throw refused(attributes, "node may only request 0 or 1 audiences");
    if (audiencesOf(pod, cluster).has(audience)) return;
    const about = { apiVersion: "v1", namespace: attributes.namespace, resource: audience, name: attributes.name };
    const verb = "request-serviceaccounts-token-audience";
    if (await isAllowed(authorize, resourceAttributes(attributes.user, verb, about))) return;
    throw refused(attributes, `audience ${goQuote(audience)} not found in pod spec volume`);
  };
}

/** The audiences of projected tokens, and of the CSI drivers of the Pod's volumes. */
function audiencesOf({ metadata, spec }: core.Pod, cluster: ClusterView): ReadonlySet<string> {
  const found = new Set<string>();
  const ofDriver = (name: string | undefined) => {
    if (name === undefined) return;
    const driver = cluster.get<storage.CSIDriver>("storage.k8s.io", "v1", "csidrivers", "", name);
    for (const { audience } of driver?.spec?.tokenRequests ?? []) found.add(audience);
  };
  for (const volume of spec?.volumes ?? []) {
    for (const { serviceAccountToken } of volume.projected?.sources ?? [])
      if (serviceAccountToken !== undefined) found.add(serviceAccountToken.audience ?? "");
    ofDriver(volume.csi?.driver);
    const claimName =
      volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral && `${metadata.name ?? ""}-${volume.name}`);
    if (claimName === undefined) continue;
    const claim = cluster.get<core.PersistentVolumeClaim>(
      "",
      "v1",
      "persistentvolumeclaims",
      metadata.namespace ?? "",
      claimName,
    );
    const volumeName = claim?.spec?.volumeName ?? "";
    if (volumeName !== "")
      ofDriver(cluster.get<core.PersistentVolume>("", "v1", "persistentvolumes", "", volumeName)?.spec?.csi?.driver);
  }
  return found;
}
