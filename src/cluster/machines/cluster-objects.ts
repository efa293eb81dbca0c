/**
 * What a machine reads before it joins, and what it may do with a bootstrap token: the objects that kubeadm makes, by
 * the same names, so that `kubeadm join` finds them as well. Pure.
 *
 *     kubeadm-config     the cluster as a whole        kubelet-config    a kubelet's settings
 *     kube-proxy         the network agent's           bindings          request certificates, read these three
 */
import type { core, KubeObject, rbac } from "#api";
import { TOKEN_GROUP } from "./tokens.ts";

export const CONFIG_NAMESPACE = "kube-system";
export const CLUSTER_CONFIG = "kubeadm-config";
export const KUBELET_CONFIG = "kubelet-config";
export const PROXY_CONFIG = "kube-proxy";

/** A key of the ConfigMap kubeadm-config: kubeadm has no such field. Empty: there is none. */
const VIRTUAL_ADDRESS = "virtual-address";

const NODES = "system:nodes";
const APPROVED = "system:certificates.k8s.io:certificatesigningrequests:";
const apiGroup = "rbac.authorization.k8s.io";

export interface ClusterDescription {
  readonly clusterName: string;
  /** `host:port` of the API server, for other machines. */
  readonly endpoint: string;
  readonly kubernetesVersion: string;
  readonly podRanges: readonly string[];
  readonly serviceRanges: readonly string[];
  readonly dnsDomain: string;
  readonly clusterDns: string;
  /** Of the API servers, for clients outside. */
  readonly virtualAddress?: string | undefined;
  readonly proxyMode: string;
  readonly featureGates: Readonly<Record<string, boolean>>;
}

export interface ClusterObjects {
  readonly configMaps: readonly core.ConfigMap[];
  readonly roles: readonly rbac.Role[];
  readonly roleBindings: readonly rbac.RoleBinding[];
  readonly clusterRoles: readonly rbac.ClusterRole[];
  readonly clusterRoleBindings: readonly rbac.ClusterRoleBinding[];
}

export function clusterObjects(cluster: ClusterDescription): ClusterObjects {
  const read = (name: string, config: string, groups: readonly string[]) => {
    const metadata = { name, namespace: CONFIG_NAMESPACE };
    return {
      role: {
        metadata,
        rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [config], verbs: ["get"] }],
      },
      binding: { metadata, roleRef: { apiGroup, kind: "Role", name }, subjects: groups.map(groupSubject) },
    };
  };
  const reads = [
    read("kubeadm:nodes-kubeadm-config", CLUSTER_CONFIG, [TOKEN_GROUP, NODES]),
    read("kubeadm:kubelet-config", KUBELET_CONFIG, [NODES, TOKEN_GROUP]),
    read("kube-proxy", PROXY_CONFIG, [TOKEN_GROUP, NODES]),
  ];
  return {
    configMaps: configMaps(cluster),
    roles: reads.map(({ role }) => role),
    roleBindings: reads.map(({ binding }) => binding),
    clusterRoles: [
      {
        metadata: { name: "kubeadm:get-nodes" },
        rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }],
      },
    ],
    clusterRoleBindings: [
      bind("kubeadm:get-nodes", "kubeadm:get-nodes", TOKEN_GROUP),
      bind("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", TOKEN_GROUP),
      bind("kubeadm:node-autoapprove-bootstrap", `${APPROVED}nodeclient`, TOKEN_GROUP),
      bind("kubeadm:node-autoapprove-certificate-rotation", `${APPROVED}selfnodeclient`, NODES),
      bind("kubeadm:cluster-admins", "cluster-admin", "kubeadm:cluster-admins"),
    ],
  };
}

/** JSON is YAML: kubeadm reads both. */
function configMaps(cluster: ClusterDescription): readonly core.ConfigMap[] {
  const { clusterName, endpoint, kubernetesVersion, podRanges, serviceRanges, dnsDomain, clusterDns, virtualAddress } =
    cluster;
  const config = (
    name: string,
    key: string,
    value: object,
    more: Readonly<Record<string, string>> = {},
  ): core.ConfigMap => ({
    metadata: { name, namespace: CONFIG_NAMESPACE },
    data: { ...more, [key]: `${JSON.stringify(value, undefined, 2)}\n` },
  });
  return [
    config(
      CLUSTER_CONFIG,
      "ClusterConfiguration",
      {
        apiVersion: "kubeadm.k8s.io/v1beta4",
        kind: "ClusterConfiguration",
        clusterName,
        controlPlaneEndpoint: endpoint,
        kubernetesVersion,
        certificatesDir: "/etc/kubernetes/pki",
        imageRepository: "registry.k8s.io",
        encryptionAlgorithm: "ECDSA-P256",
        networking: { dnsDomain, podSubnet: podRanges.join(), serviceSubnet: serviceRanges.join() },
        etcd: { local: { dataDir: "/var/lib/etcd" } },
        // Every control plane names it in its certificate.
        apiServer: virtualAddress === undefined ? {} : { certSANs: [virtualAddress] },
        controllerManager: {},
        scheduler: {},
        // Every node serves the cluster's DNS itself.
        dns: { disabled: true },
      },
      { [VIRTUAL_ADDRESS]: virtualAddress ?? "" },
    ),
    config(KUBELET_CONFIG, "kubelet", {
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile: "/etc/kubernetes/pki/ca.crt" },
      },
      authorization: { mode: "Webhook" },
      clusterDNS: [clusterDns],
      clusterDomain: dnsDomain,
      featureGates: cluster.featureGates,
      rotateCertificates: true,
      // The API server talks to kubelets with a certificate of the cluster's authority only.
      serverTLSBootstrap: true,
      staticPodPath: "/etc/kubernetes/manifests",
    }),
    config(PROXY_CONFIG, "config.conf", {
      apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
      kind: "KubeProxyConfiguration",
      mode: cluster.proxyMode,
      clusterCIDR: podRanges.join(),
    }),
  ];
}

function bind(name: string, role: string, group: string): rbac.ClusterRoleBinding {
  return {
    metadata: { name },
    roleRef: { apiGroup, kind: "ClusterRole", name: role },
    subjects: [groupSubject(group)],
  };
}

function groupSubject(name: string): NonNullable<rbac.RoleBinding["subjects"]>[number] {
  return { apiGroup, kind: "Group", name };
}

/** What a joining machine takes from the three ConfigMaps. Throws if they are not what the cluster writes. */
export function describedCluster(configs: {
  readonly cluster: KubeObject;
  readonly kubelet: KubeObject;
  readonly proxy: KubeObject | undefined;
}): Pick<
  ClusterDescription,
  | "clusterName"
  | "podRanges"
  | "serviceRanges"
  | "clusterDns"
  | "dnsDomain"
  | "proxyMode"
  | "featureGates"
  | "virtualAddress"
> {
  const cluster = parsed(configs.cluster, "ClusterConfiguration");
  const kubelet = parsed(configs.kubelet, "kubelet");
  const proxy = configs.proxy === undefined ? {} : parsed(configs.proxy, "config.conf");
  const { networking = {} } = cluster as { networking?: Readonly<Record<string, string>> };
  const [clusterDns] = (kubelet.clusterDNS as readonly string[] | undefined) ?? [];
  const lacking = [
    ["networking.podSubnet", networking.podSubnet],
    ["networking.serviceSubnet", networking.serviceSubnet],
    ["clusterDNS", clusterDns],
  ].find(([, value]) => value === undefined || value === "");
  if (lacking !== undefined) throw new Error(`the cluster's configuration has no ${lacking[0]}`);
  const virtualAddress = (configs.cluster as core.ConfigMap).data?.[VIRTUAL_ADDRESS] ?? "";
  return {
    ...(virtualAddress !== "" && { virtualAddress }),
    clusterName: String(cluster.clusterName ?? "kubernetes"),
    podRanges: (networking.podSubnet ?? "").split(","),
    serviceRanges: (networking.serviceSubnet ?? "").split(","),
    dnsDomain: networking.dnsDomain ?? "cluster.local",
    clusterDns: clusterDns ?? "",
    proxyMode: String(proxy.mode ?? ""),
    featureGates: (kubelet.featureGates as Readonly<Record<string, boolean>> | undefined) ?? {},
  };
}

function parsed(object: KubeObject, key: string): Readonly<Record<string, unknown>> {
  const { data = {} } = object as core.ConfigMap;
  const text = data[key];
  if (text === undefined) throw new Error(`the ConfigMap ${object.metadata.name} has no ${key}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}
