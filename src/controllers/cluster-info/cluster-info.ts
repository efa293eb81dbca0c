/**
 * What a machine that wants to join may know without being known itself: where the cluster is, and who signs for it. The bootstrap signer adds
 * a signature for each token, so that whoever has a token can tell that it is genuine.
 *
 *     kube-public: ConfigMap cluster-info          a kubeconfig without a user
 *                  Role, RoleBinding               everyone may read this one
 */
import type { core, KubeObject, rbac } from "#api";

export interface ClusterAddress {
  /** As machines reach it: https://host:port. */
  readonly server: string;
  readonly caPem: string;
}

export const NAMESPACE = "kube-public";
export const NAME = "cluster-info";
export const CONTENT = "kubeconfig";
/** As kubeadm calls them. */
const READERS = "kubeadm:bootstrap-signer-clusterinfo";

export function clusterInfo(address: ClusterAddress): core.ConfigMap {
  return { metadata: { name: NAME, namespace: NAMESPACE }, data: { [CONTENT]: kubeconfigText(address) } };
}

export function readers(): { readonly role: rbac.Role; readonly binding: rbac.RoleBinding } {
  const metadata: KubeObject["metadata"] = { name: READERS, namespace: NAMESPACE };
  const apiGroup = "rbac.authorization.k8s.io";
  return {
    role: {
      metadata,
      rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [NAME], verbs: ["get"] }],
    },
    binding: {
      metadata,
      roleRef: { apiGroup, kind: "Role", name: READERS },
      subjects: [{ apiGroup, kind: "User", name: "system:anonymous" }],
    },
  };
}

function kubeconfigText({ server, caPem }: ClusterAddress): string {
  return `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${Buffer.from(caPem).toString("base64")}
    server: ${JSON.stringify(server)}
  name: ""
contexts: null
current-context: ""
kind: Config
preferences: {}
users: null
`;
}
