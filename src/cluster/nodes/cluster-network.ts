/**
 * What the API has to hold so that nodes have a network: the Service of the cluster's DNS, and the rights of who brings Services and policies to nodes.
 */
import type { core, rbac } from "#api";
import type { Logger } from "#base";
import { type Client, clusterWide, createUnlessThere, namespaced } from "#client";
import { CLUSTER_DNS } from "./kubelet.ts";

const ROLE = "k8ts:node-network";
const READS = ["get", "list", "watch"];

const dnsService: core.Service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: "kube-dns",
    namespace: "kube-system",
    labels: {
      "k8s-app": "kube-dns",
      "kubernetes.io/cluster-service": "true",
      "kubernetes.io/name": "CoreDNS",
      // Every node answers at this address itself: nothing has to be sent anywhere.
      "service.kubernetes.io/service-proxy-name": "k8ts-dns",
    },
  },
  spec: {
    clusterIP: CLUSTER_DNS,
    ports: [
      { name: "dns", port: 53, protocol: "UDP" },
      { name: "dns-tcp", port: 53, protocol: "TCP" },
    ],
  },
};

const role: rbac.ClusterRole = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: ROLE },
  rules: [
    { apiGroups: [""], resources: ["pods", "namespaces"], verbs: READS },
    { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: READS },
  ],
};

const binding: rbac.ClusterRoleBinding = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name: ROLE },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: ROLE },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "system:kube-proxy" }],
};

const RBAC = "rbac.authorization.k8s.io/v1";

/** What is there already is left as it is. What goes wrong is logged: nodes run Pods all the same. */
export async function publishNetwork(client: Client, log: Logger, signal: AbortSignal): Promise<void> {
  const roles = client.of(clusterWide<rbac.ClusterRole>(RBAC, "ClusterRole", "clusterroles"));
  const bindings = client.of(clusterWide<rbac.ClusterRoleBinding>(RBAC, "ClusterRoleBinding", "clusterrolebindings"));
  const services = client.of(namespaced<core.Service>("v1", "Service", "services")).in("kube-system");
  try {
    await createUnlessThere(roles, role, { signal });
    await createUnlessThere(bindings, binding, { signal });
    await createUnlessThere(services, dnsService, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    log.error("the network of nodes is not complete", { error });
  }
}
