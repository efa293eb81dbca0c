/** The resources that the network reads and writes. */
import type { core, discovery, networking } from "#api";
import { clusterWide, namespaced } from "#client";

export const Service = namespaced<core.Service>("v1", "Service", "services");
export const EndpointSlice = namespaced<discovery.EndpointSlice>(
  "discovery.k8s.io/v1",
  "EndpointSlice",
  "endpointslices",
);
export const Pod = namespaced<core.Pod>("v1", "Pod", "pods");
export const Secret = namespaced<core.Secret>("v1", "Secret", "secrets");
export const Ingress = namespaced<networking.Ingress>("networking.k8s.io/v1", "Ingress", "ingresses");
export const NetworkPolicy = namespaced<networking.NetworkPolicy>(
  "networking.k8s.io/v1",
  "NetworkPolicy",
  "networkpolicies",
);
export const IngressClass = clusterWide<networking.IngressClass>(
  "networking.k8s.io/v1",
  "IngressClass",
  "ingressclasses",
);
export const Namespace = clusterWide<core.Namespace>("v1", "Namespace", "namespaces");
export const Node = clusterWide<core.Node>("v1", "Node", "nodes");
