/** A kubelet and the Pods on its node. */
import { type core, equalJson, goQuote, type Json, notFound } from "#api";
import { podReferences } from "../../../authz/node/references.ts";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { type ClusterView, MIRROR_POD, refused } from "../../chain/plugin.ts";
import type { NodeCheck } from "./node-check.ts";

const PODS = { group: "", resource: "pods" };
const NODES = { group: "", resource: "nodes" };

export const checkPod: NodeCheck = (node, attributes, cluster) => {
  const who = `node ${goQuote(node)}`;
  if (attributes.operation === "CREATE") return checkMirrorPod(node, attributes, cluster);
  if (attributes.operation !== "DELETE") {
    const operation = goQuote(attributes.operation);
    throw refused(attributes, `unexpected operation ${operation}, ${who} can only create and delete mirror pods`);
  }
  if (storedPod(attributes, cluster).spec?.nodeName !== node)
    throw refused(attributes, `${who} can only delete pods with spec.nodeName set to itself`);
};

function storedPod({ namespace, name, object }: AdmissionAttributes, cluster: ClusterView): core.Pod {
  const asked = name || (object?.metadata.name ?? "");
  const pod = cluster.get<core.Pod>("", "v1", "pods", namespace, asked);
  if (pod === undefined) throw notFound(PODS, asked);
  return pod;
}

/** A mirror Pod shows a static Pod: it must belong to the node, and may not give it access to other objects. */
function checkMirrorPod(node: string, attributes: AdmissionAttributes, cluster: ClusterView): void {
  const { metadata, spec } = attributes.object as core.Pod;
  const who = `node ${goQuote(node)}`;
  const refuse = (why: string) => refused(attributes, why);
  if (metadata.annotations?.[MIRROR_POD] === undefined)
    throw refuse(`pod does not have ${goQuote(MIRROR_POD)} annotation, ${who} can only create mirror pods`);
  if (spec?.nodeName !== node) throw refuse(`${who} can only create pods with spec.nodeName set to itself`);
  const [owner, another] = metadata.ownerReferences ?? [];
  if (another !== undefined) throw refuse(`${who} can only create pods with a single owner reference set to itself`);
  if (owner === undefined || owner.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node)
    throw refuse(`${who} can only create pods with an owner reference set to itself`);
  if (owner.controller !== true)
    throw refuse(`${who} can only create pods with a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion === true) throw refuse(`${who} must not set blockOwnerDeletion on an owner reference`);
  const stored = cluster.get<core.Node>("", "v1", "nodes", "", node);
  if (stored === undefined) throw notFound(NODES, node);
  if (owner.uid !== stored.metadata.uid)
    throw refuse(`node ${node} UID mismatch: expected ${owner.uid} got ${stored.metadata.uid}`);
  const { name = "", namespace = "" } = metadata;
  const kinds = new Set(podReferences({ metadata: { name, namespace }, spec }).map(({ kind }) => kind));
  if (kinds.has("serviceaccount")) throw refuse(`${who} can not create pods that reference a service account`);
  if (kinds.has("secret")) throw refuse(`${who} can not create pods that reference secrets`);
  if (kinds.has("configmap")) throw refuse(`${who} can not create pods that reference configmaps`);
  const volumes = spec.volumes ?? [];
  if (volumes.some(({ projected }) => (projected?.sources ?? []).some((each) => each.clusterTrustBundle !== undefined)))
    throw refuse(`${who} can not create pods that reference clustertrustbundles`);
  if (volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined))
    throw refuse(`${who} can not create pods that reference persistentvolumeclaims`);
  if ((spec.resourceClaims ?? []).length > 0) throw refuse(`${who} can not create pods that reference resourceclaims`);
}

export const checkPodStatus: NodeCheck = (node, attributes) => {
  const who = `node ${goQuote(node)}`;
  if (attributes.operation !== "UPDATE")
    throw refused(attributes, `unexpected operation ${goQuote(attributes.operation)}`);
  const [next, old] = [attributes.object as core.Pod, attributes.old as core.Pod];
  if (old.spec?.nodeName !== node)
    throw refused(attributes, `${who} can only update pod status for pods with spec.nodeName set to itself`);
  if (!isSame(next.metadata.labels ?? {}, old.metadata.labels ?? {}))
    throw refused(attributes, `${who} cannot update labels through pod status`);
  const claims = ({ status }: core.Pod) =>
    (status?.resourceClaimStatuses ?? []).map(({ name, resourceClaimName }) => [name, resourceClaimName ?? null]);
  if (!isSame(claims(next), claims(old))) throw refused(attributes, `${who} cannot update resource claim statues`);
};

export const checkPodEviction: NodeCheck = (node, attributes, cluster) => {
  if (attributes.operation !== "CREATE") throw refused(attributes, `unexpected operation ${attributes.operation}`);
  if (storedPod(attributes, cluster).spec?.nodeName !== node)
    throw refused(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
};

/** A kubelet that has expanded a file system may write its new size, and nothing else. */
export const checkClaimStatus: NodeCheck = (node, attributes) => {
  if (attributes.operation !== "UPDATE")
    throw refused(attributes, `unexpected operation ${goQuote(attributes.operation)}`);
  const [next, old] = [attributes.object, attributes.old].map((claim) => rest(claim as core.PersistentVolumeClaim));
  const changed = (["metadata", "spec", "status"] as const).filter((part) => !isSame(next?.[part], old?.[part]));
  if (changed.length === 0) return;
  const why = "is not allowed to update fields other than status.capacity and status.conditions";
  throw refused(attributes, `node ${goQuote(node)} ${why}: ${changed.join(", ")} differs`);
};

/** The claim without the fields that a kubelet may change. */
function rest({ metadata, spec, status }: core.PersistentVolumeClaim) {
  const { resourceVersion: _, managedFields: __, ...meta } = metadata;
  const { capacity, conditions, allocatedResources, allocatedResourceStatuses, ...kept } = status ?? {};
  return { metadata: meta, spec, status: kept };
}

function isSame(a: unknown, b: unknown): boolean {
  return equalJson((a ?? null) as Json, (b ?? null) as Json);
}
