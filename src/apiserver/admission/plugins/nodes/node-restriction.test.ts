import { describe, expect, it } from "vitest";
import type { Attributes } from "../../../authz/attributes.ts";
import { ALLOW, NO_OPINION } from "../../../authz/verdict.ts";
import { type Attempt, admit, certificateRequest, claimObject, podObject } from "../../testing/index.ts";
import { nodeRestriction } from "./node-restriction.ts";

const plugin = nodeRestriction(({ verb, resource }: Attributes) =>
  verb === "request-serviceaccounts-token-audience" && resource === "granted" ? ALLOW : NO_OPINION,
);
const node = { name: "system:node:n", groups: ["system:nodes"] };
const NODE = { kind: "Node", apiVersion: "v1", metadata: { name: "n", uid: "u" } };
const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u", controller: true };
const mirror = (spec: object = {}, metadata: object = {}) =>
  podObject(
    { nodeName: "n", ...spec },
    { annotations: { "kubernetes.io/config.mirror": "x" }, ownerReferences: [owner], ...metadata },
  );
const running = podObject({ nodeName: "n" }, { uid: "p1" });
const elsewhere = podObject({ nodeName: "m" }, { uid: "p1" });
const labelled = (labels: object, more: object = {}) => ({ ...NODE, metadata: { ...NODE.metadata, labels }, ...more });
const lease = (name: string) => ({ metadata: { name } });
const token = (ref: object | undefined, audiences: string[] = []) => ({
  metadata: {},
  spec: { audiences, ...(ref && { boundObjectRef: ref }) },
});
const bound = { apiVersion: "v1", kind: "Pod", name: "p", uid: "p1" };
const withToken = podObject(
  {
    nodeName: "n",
    volumes: [
      { name: "t", projected: { sources: [{ serviceAccountToken: { path: "t", audience: "vault" } }] } },
      { name: "c", csi: { driver: "d" } },
    ],
  },
  { uid: "p1" },
);
const DRIVER = {
  kind: "CSIDriver",
  apiVersion: "storage.k8s.io/v1",
  metadata: { name: "d" },
  spec: { tokenRequests: [{ audience: "csi" }] },
};

interface Row extends Attempt {
  label: string;
  why?: string;
}

const rows: Row[] = [
  { label: "others", user: { name: "jane", groups: [] }, resource: "nodes", object: labelled({}, {}), why: "" },
  {
    label: "a node without a name",
    user: { name: "system:node:", groups: ["system:nodes"] },
    resource: "nodes",
    object: NODE,
    why: 'could not determine node from user "system:node:"',
  },
  { label: "a mirror pod", object: mirror(), cluster: [NODE], why: "" },
  {
    label: "a pod that is no mirror",
    object: podObject({ nodeName: "n" }),
    why: 'pod does not have "kubernetes.io/config.mirror" annotation, node "n" can only create mirror pods',
  },
  {
    label: "a mirror pod on another node",
    object: mirror({ nodeName: "m" }),
    why: 'node "n" can only create pods with spec.nodeName set to itself',
  },
  {
    label: "a mirror pod of nobody",
    object: mirror({}, { ownerReferences: [] }),
    why: 'node "n" can only create pods with an owner reference set to itself',
  },
  {
    label: "a mirror pod of two",
    object: mirror({}, { ownerReferences: [owner, owner] }),
    why: 'node "n" can only create pods with a single owner reference set to itself',
  },
  {
    label: "a mirror pod that is not controlled",
    object: mirror({}, { ownerReferences: [{ ...owner, controller: false }] }),
    why: 'node "n" can only create pods with a controller owner reference set to itself',
  },
  {
    label: "a mirror pod that blocks",
    object: mirror({}, { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
    why: 'node "n" must not set blockOwnerDeletion on an owner reference',
  },
  {
    label: "a mirror pod of a node that was made anew",
    object: mirror({}, { ownerReferences: [{ ...owner, uid: "old" }] }),
    cluster: [NODE],
    why: "node n UID mismatch: expected old got u",
  },
  { label: "a mirror pod of no node", object: mirror(), why: 'nodes "n" not found' },
  {
    label: "a mirror pod with an account",
    object: mirror({ serviceAccountName: "x" }),
    cluster: [NODE],
    why: 'node "n" can not create pods that reference a service account',
  },
  {
    label: "a mirror pod with a secret",
    object: mirror({ volumes: [{ name: "v", secret: { secretName: "s" } }] }),
    cluster: [NODE],
    why: 'node "n" can not create pods that reference secrets',
  },
  {
    label: "a mirror pod with a config map",
    object: mirror({ containers: [{ name: "c", image: "x", envFrom: [{ configMapRef: { name: "m" } }] }] }),
    cluster: [NODE],
    why: 'node "n" can not create pods that reference configmaps',
  },
  {
    label: "a mirror pod with a bundle",
    object: mirror({ volumes: [{ name: "v", projected: { sources: [{ clusterTrustBundle: { path: "x" } }] } }] }),
    cluster: [NODE],
    why: 'node "n" can not create pods that reference clustertrustbundles',
  },
  {
    label: "a mirror pod with a claim",
    object: mirror({ volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] }),
    cluster: [NODE],
    why: 'node "n" can not create pods that reference persistentvolumeclaims',
  },
  {
    label: "a mirror pod with a resource claim",
    object: mirror({ resourceClaims: [{ name: "r" }] }),
    cluster: [NODE],
    why: 'node "n" can not create pods that reference resourceclaims',
  },
  {
    label: "a change of a pod",
    object: running,
    old: running,
    why: 'unexpected operation "UPDATE", node "n" can only create and delete mirror pods',
  },
  { label: "the end of its own pod", operation: "DELETE", old: running, cluster: [running], why: "" },
  {
    label: "the end of another's pod",
    operation: "DELETE",
    old: elsewhere,
    cluster: [elsewhere],
    why: 'node "n" can only delete pods with spec.nodeName set to itself',
  },
  { label: "the status of its own pod", resource: "pods/status", object: running, old: running, why: "" },
  {
    label: "the status of another's pod",
    resource: "pods/status",
    object: elsewhere,
    old: elsewhere,
    why: 'node "n" can only update pod status for pods with spec.nodeName set to itself',
  },
  {
    label: "labels by way of a status",
    resource: "pods/status",
    object: podObject({ nodeName: "n" }, { labels: { a: "b" } }),
    old: running,
    why: 'node "n" cannot update labels through pod status',
  },
  {
    label: "claims by way of a status",
    resource: "pods/status",
    object: { ...running, status: { resourceClaimStatuses: [{ name: "r", resourceClaimName: "x" }] } },
    old: running,
    why: 'node "n" cannot update resource claim statues',
  },
  { label: "the eviction of its own pod", resource: "pods/eviction", object: lease("p"), cluster: [running], why: "" },
  {
    label: "the eviction of another's pod",
    resource: "pods/eviction",
    object: lease("p"),
    cluster: [elsewhere],
    why: "node n can only evict pods with spec.nodeName set to itself",
  },
  {
    label: "a binding",
    resource: "pods/binding",
    object: lease("p"),
    why: "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed",
  },
  { label: "its own node", resource: "nodes", object: labelled({ "kubernetes.io/hostname": "n", mine: "x" }), why: "" },
  {
    label: "another node",
    resource: "nodes",
    object: { ...NODE, metadata: { name: "m" } },
    why: 'node "n" is not allowed to modify node "m"',
  },
  {
    label: "a node with labels of others",
    resource: "nodes",
    object: labelled({ "node-restriction.kubernetes.io/x": "1", "foo.k8s.io/y": "1", "node.kubernetes.io/z": "1" }),
    why: 'node "n" is not allowed to set the following labels: foo.k8s.io/y, node-restriction.kubernetes.io/x',
  },
  {
    label: "a label of others taken off",
    resource: "nodes",
    object: labelled({}),
    old: labelled({ "node-restriction.kubernetes.io/x": "1" }),
    why: "is not allowed to modify labels: node-restriction.kubernetes.io/x",
  },
  {
    label: "a taint taken off",
    resource: "nodes/status",
    object: labelled({}),
    old: labelled({}, { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }),
    why: 'node "n" is not allowed to modify taints',
  },
  {
    label: "owners of a node",
    resource: "nodes",
    object: { ...NODE, metadata: { ...NODE.metadata, ownerReferences: [owner] } },
    old: NODE,
    why: 'node "n" is not allowed to modify ownerReferences',
  },
  {
    label: "a configuration of a node",
    resource: "nodes",
    object: { ...NODE, spec: { configSource: {} } },
    why: 'node "n" is not allowed to create pods with a non-nil configSource',
  },
  {
    label: "a claim",
    resource: "persistentvolumeclaims",
    object: claimObject(),
    old: claimObject(),
    why: "may only update PVC status",
  },
  {
    label: "the size of a claim's volume",
    resource: "persistentvolumeclaims/status",
    object: claimObject({}, { status: { capacity: { storage: "2Gi" } } }),
    old: claimObject({}, { status: { capacity: { storage: "1Gi" } } }),
    why: "",
  },
  {
    label: "the phase of a claim",
    resource: "persistentvolumeclaims/status",
    object: claimObject({}, { status: { phase: "Bound" } }),
    old: claimObject({}, { status: { phase: "Pending" } }),
    why: 'node "n" is not allowed to update fields other than status.capacity and status.conditions: status differs',
  },
  {
    label: "its lease",
    resource: "leases.coordination.k8s.io",
    namespace: "kube-node-lease",
    object: lease("n"),
    why: "",
  },
  {
    label: "another's lease",
    resource: "leases.coordination.k8s.io",
    namespace: "kube-node-lease",
    object: lease("m"),
    why: "can only access node lease with the same name as the requesting node",
  },
  {
    label: "a lease elsewhere",
    resource: "leases.coordination.k8s.io",
    object: lease("n"),
    why: 'can only access leases in the "kube-node-lease" system namespace',
  },
  {
    label: "another's CSINode",
    resource: "csinodes.storage.k8s.io",
    object: lease("m"),
    why: "can only access CSINode with the same name as the requesting node",
  },
  {
    label: "another's resource slice",
    resource: "resourceslices.resource.k8s.io",
    object: { ...lease("s"), spec: { nodeName: "m" } },
    why: "can only create ResourceSlice with the same NodeName as the requesting node",
  },
  {
    label: "the end of its resource slice",
    resource: "resourceslices.resource.k8s.io",
    operation: "DELETE",
    old: { ...lease("s"), spec: { nodeName: "n" } },
    why: "",
  },
  {
    label: "a certificate of its own",
    resource: "certificatesigningrequests.certificates.k8s.io",
    object: {
      ...lease("c"),
      spec: { signerName: "kubernetes.io/kubelet-serving", request: certificateRequest("system:node:n") },
    },
    why: "",
  },
  {
    label: "a certificate of another",
    resource: "certificatesigningrequests.certificates.k8s.io",
    object: {
      ...lease("c"),
      spec: { signerName: "kubernetes.io/kubelet-serving", request: certificateRequest("system:node:m") },
    },
    why: "can only create a node CSR with CN=system:node:n",
  },
  {
    label: "a token for nobody",
    resource: "serviceaccounts/token",
    object: token(undefined),
    why: "node requested token not bound to a pod",
  },
  {
    label: "a token for a pod without a uid",
    resource: "serviceaccounts/token",
    object: token({ ...bound, uid: "" }),
    why: "node requested token with a pod binding without a uid",
  },
  {
    label: "a token for a pod that is not there",
    resource: "serviceaccounts/token",
    object: token(bound),
    why: 'pods "p" not found',
  },
  {
    label: "a token for an earlier pod",
    resource: "serviceaccounts/token",
    object: token({ ...bound, uid: "p0" }),
    cluster: [running],
    why: "the UID in the bound object reference (p0) does not match the UID in record. The object might have been deleted and then recreated",
  },
  {
    label: "a token for another's pod",
    resource: "serviceaccounts/token",
    object: token(bound),
    cluster: [elsewhere],
    why: "node requested token bound to a pod scheduled on a different node",
  },
  {
    label: "a token for an audience that the pod needs",
    resource: "serviceaccounts/token",
    object: token(bound, ["vault"]),
    cluster: [withToken],
    why: "",
  },
  {
    label: "a token for an audience that a driver of the pod needs",
    resource: "serviceaccounts/token",
    object: token(bound, ["csi"]),
    cluster: [withToken, DRIVER],
    why: "",
  },
  {
    label: "a token for an audience that is granted",
    resource: "serviceaccounts/token",
    object: token(bound, ["granted"]),
    cluster: [withToken],
    why: "",
  },
  {
    label: "a token for an audience of others",
    resource: "serviceaccounts/token",
    object: token(bound, ["bank"]),
    cluster: [withToken],
    why: 'audience "bank" not found in pod spec volume',
  },
  {
    label: "a token for two audiences",
    resource: "serviceaccounts/token",
    object: token(bound, ["a", "b"]),
    cluster: [withToken],
    why: "node may only request 0 or 1 audiences",
  },
];

describe("NodeRestriction", () => {
  it.each(rows)("judges $label", async ({ label: _, why = "", ...attempt }) => {
    expect(await admit(plugin, { user: node, ...attempt })).toMatchObject({ why });
  });
});
