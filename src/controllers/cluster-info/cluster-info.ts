/**
 * What a joining machine may read without credentials: the address and the CA of the cluster. The bootstrap signer adds
 * a signature for each token, so that the owner of a token can verify it.
 *
 *     kube-public: ConfigMap cluster-info          a kubeconfig without a user
 *                  Role, RoleBinding               everyone may read it
 */
import type { core, KubeObject, rbac } from "#api";

export interface ClusterAddress {
  /** The API server's address for other machines: https://host:port. */
  readonly server: string;
  readonly caPem: string;
}

export const NAMESPACE = "kube-public";
export const NAME = "cluster-info";
export const CONTENT = "kubeconfig";
/** The names that kubeadm uses. */
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
