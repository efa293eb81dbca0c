/**
 * The API objects behind the nodes' network: the Service of the cluster DNS, the roles of the network agent and of the
 * ingress controller, and its IngressClass.
 */
import { type core, kinds, type networking, type rbac } from "#api";
import type { Clock, Logger } from "#base";
import { type Client, createUnlessThere } from "#client";
import { addressIn } from "../config/service-addresses.ts";
import { INGRESS_USER } from "./programs/ingress.ts";
import { CLUSTER_DNS } from "./programs/kubelet.ts";

const ROLE = "k8ts:node-network";
const GATEWAY_GROUP = "gateway.networking.k8s.io";
const READS = ["get", "list", "watch"];

const DNS_PLACE = 10;
const SERVED_MS = 20_000;
const POLL_MS = 100;

/** The address of the cluster DNS: by convention the tenth of the first Service range. */
export function clusterDnsIn([range]: readonly string[] = []): string {
  return (range === undefined ? undefined : addressIn(range, DNS_PLACE)) ?? CLUSTER_DNS;
}

const dnsService = (clusterIP: string): core.Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: "kube-dns",
    namespace: "kube-system",
    labels: {
      "k8s-app": "kube-dns",
      "kubernetes.io/cluster-service": "true",
      "kubernetes.io/name": "CoreDNS",
      // Every node serves this address itself: there are no endpoints.
      "service.kubernetes.io/service-proxy-name": "k8ts-dns",
    },
  },
  spec: {
    clusterIP,
    ports: [
      { name: "dns", port: 53, protocol: "UDP" },
      { name: "dns-tcp", port: 53, protocol: "TCP" },
    ],
  },
});

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

const ingressRole: rbac.ClusterRole = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: INGRESS_USER },
  rules: [
    { apiGroups: [""], resources: ["services", "secrets"], verbs: READS },
    { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: READS },
    { apiGroups: ["networking.k8s.io"], resources: ["ingresses", "ingressclasses"], verbs: READS },
    { apiGroups: ["networking.k8s.io"], resources: ["ingressclasses"], verbs: ["create"] },
    { apiGroups: ["networking.k8s.io"], resources: ["ingresses/status"], verbs: ["update"] },
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
    // The Gateway API, if its CRDs are installed.
    // ConfigMaps: the authorities of BackendTLSPolicies.
    { apiGroups: [""], resources: ["namespaces", "configmaps"], verbs: READS },
    { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: READS },
    {
      apiGroups: [GATEWAY_GROUP],
      resources: [
        "gatewayclasses",
        "gateways",
        "httproutes",
        "grpcroutes",
        "tlsroutes",
        "tcproutes",
        "backendtlspolicies",
        "referencegrants",
      ],
      verbs: READS,
    },
    {
      apiGroups: [GATEWAY_GROUP],
      resources: [
        "gatewayclasses/status",
        "gateways/status",
        "httproutes/status",
        "grpcroutes/status",
        "tlsroutes/status",
        "tcproutes/status",
        "backendtlspolicies/status",
      ],
      verbs: ["update"],
    },
  ],
};

const ingressBinding: rbac.ClusterRoleBinding = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name: INGRESS_USER },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: INGRESS_USER },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: INGRESS_USER }],
};

const ingressClass: networking.IngressClass = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "k8ts", annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
  spec: { controller: "k8ts.dev/ingress" },
};

const { ClusterRole, ClusterRoleBinding, Service, IngressClass } = kinds;

/** Existing objects are left as they are. Errors are only logged: nodes run Pods anyway. */
export async function publishNetwork(
  client: Client,
  clusterDns: string,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  await attempt(log, signal, async () => {
    await createUnlessThere(client.of(ClusterRole), role, { signal });
    await createUnlessThere(client.of(ClusterRoleBinding), binding, { signal });
    await createUnlessThere(client.of(Service).in("kube-system"), dnsService(clusterDns), { signal });
  });
}

/** The same for the ingress controller. Its class is the default. */
export async function publishIngress(client: Client, log: Logger, signal: AbortSignal): Promise<void> {
  await attempt(log, signal, async () => {
    await createUnlessThere(client.of(ClusterRole), ingressRole, { signal });
    await createUnlessThere(client.of(ClusterRoleBinding), ingressBinding, { signal });
    await createUnlessThere(client.of(IngressClass), ingressClass, { signal });
  });
}

/**
 * The definitions of the Gateway API, and a class of our own, unless they exist. Its kinds are served a moment after
 * their definitions are made.
 */
export async function publishGatewayApi(client: Client, clock: Clock, log: Logger, signal: AbortSignal): Promise<void> {
  const { GATEWAY_CONTROLLER, GatewayClassResource, installDefinitions } = await import("#network");
  const gatewayClass = { metadata: { name: "k8ts" }, spec: { controllerName: GATEWAY_CONTROLLER } };
  await attempt(log, signal, async () => {
    await installDefinitions(client, signal);
    const deadline = clock.monotonic() + SERVED_MS;
    for (;;) {
      try {
        await createUnlessThere(client.of(GatewayClassResource), gatewayClass, { signal });
        return;
      } catch (error) {
        if (signal.aborted || clock.monotonic() >= deadline) throw error;
        await clock.sleep(POLL_MS, signal);
      }
    }
  });
}

async function attempt(log: Logger, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (signal.aborted) throw error;
    log.error("the network objects of nodes are incomplete", { error });
  }
}
