/**
 * NodeRestriction: limits a kubelet to its own Node, Lease, CSINode and ResourceSlices, the Pods on its node, mirror
 * Pods, and tokens for its Pods. It runs in admission because the request alone does not show whose the object is.
 *
 * A node is a user `system:node:NAME` in the group system:nodes. All other users pass.
 */
import { type certificates, goQuote, type resource } from "#api";
import { requestSubject } from "#pki";
import type { Authorizer } from "../../../authz/authorizer.ts";
import { NODES, type UserInfo } from "../../../identity/user.ts";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { type AdmissionPlugin, refused, rule } from "../../chain/plugin.ts";
import type { NodeCheck } from "./node-check.ts";
import { checkNode } from "./node-restriction-nodes.ts";
import { checkClaimStatus, checkPod, checkPodEviction, checkPodStatus } from "./node-restriction-pods.ts";
import { checkToken } from "./node-restriction-tokens.ts";

const USER = "system:node:";
const LEASES = "kube-node-lease";
const WRITES = "CREATE UPDATE DELETE";
const NODE_SIGNERS = new Set(["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"]);

export function nodeRestriction(authorize: Authorizer): AdmissionPlugin {
  const ofNodes = (operations: string, resources: string, check: NodeCheck) =>
    rule(operations, resources, (attributes, cluster) => {
      const node = nodeOf(attributes.user);
      if (node === undefined) return;
      if (node === "") throw refused(attributes, `could not determine node from user ${goQuote(attributes.user.name)}`);
      return check(node, attributes, cluster);
    });
  return {
    name: "NodeRestriction",
    mutates: [
      ofNodes(WRITES, "pods", checkPod),
      ofNodes(WRITES, "pods/*", (node, attributes, cluster) => {
        if (attributes.subresource === "status") return checkPodStatus(node, attributes, cluster);
        if (attributes.subresource === "eviction") return checkPodEviction(node, attributes, cluster);
        const which = goQuote(attributes.subresource);
        throw refused(attributes, `unexpected pod subresource ${which}, only 'status' and 'eviction' are allowed`);
      }),
      ofNodes(WRITES, "nodes nodes/*", checkNode),
      ofNodes(WRITES, "persistentvolumeclaims persistentvolumeclaims/*", (node, attributes, cluster) => {
        if (attributes.subresource !== "status") throw refused(attributes, "may only update PVC status");
        return checkClaimStatus(node, attributes, cluster);
      }),
      ofNodes("CREATE", "serviceaccounts/token", checkToken(authorize)),
      ofNodes(WRITES, "leases.coordination.k8s.io", checkLease),
      ofNodes(WRITES, "csinodes.storage.k8s.io", (node, attributes) => {
        if (nameOf(attributes) !== node)
          throw refused(attributes, "can only access CSINode with the same name as the requesting node");
      }),
      ofNodes("CREATE", "resourceslices.resource.k8s.io", checkSlice),
      ofNodes("DELETE", "resourceslices.resource.k8s.io", checkSlice),
      ofNodes("CREATE", "certificatesigningrequests.certificates.k8s.io", checkRequest),
    ],
  };
}

/** Undefined: the user is not a node. "": a node without a name. */
function nodeOf({ name, groups }: UserInfo): string | undefined {
  return name.startsWith(USER) && groups.includes(NODES) ? name.slice(USER.length) : undefined;
}

function nameOf({ name, object }: AdmissionAttributes): string {
  return name || (object?.metadata.name ?? "");
}

const checkLease: NodeCheck = (node, attributes) => {
  if (attributes.namespace !== LEASES)
    throw refused(attributes, `can only access leases in the ${goQuote(LEASES)} system namespace`);
  if (nameOf(attributes) !== node)
    throw refused(attributes, "can only access node lease with the same name as the requesting node");
};

/** The node authorizer checks updates and deletions: it sees the field selector. */
const checkSlice: NodeCheck = (node, attributes) => {
  const { operation, object, old } = attributes;
  const slice = (operation === "CREATE" ? object : old) as resource.ResourceSlice | undefined;
  if ((slice?.spec?.nodeName ?? "") === node) return;
  const verb = operation === "CREATE" ? "create" : "delete";
  throw refused(attributes, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`);
};

const checkRequest: NodeCheck = (node, attributes) => {
  const { spec } = attributes.object as certificates.CertificateSigningRequest;
  if (!NODE_SIGNERS.has(spec.signerName)) return;
  const subject = requestSubject(spec.request);
  if (subject === undefined)
    throw refused(attributes, "unable to parse csr: PEM block does not hold a certificate request");
  if (subject.commonName !== USER + node)
    throw refused(attributes, `can only create a node CSR with CN=${USER}${node}`);
};
