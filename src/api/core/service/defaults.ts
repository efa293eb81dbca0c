/** Defaults of a service. */
import type { Draft } from "../../machinery/schema/object.ts";
import type { Service } from "../../types/core-v1.ts";
import { isExternallyAccessible } from "./needs.ts";

const affinitySeconds = 10_800;

export function defaultService(draft: Draft<Service>): void {
  draft.spec ??= {};
  const { spec } = draft;
  spec.sessionAffinity ||= "None";
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === "ClientIP" && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: affinitySeconds } };
  }
  spec.type ||= "ClusterIP";
  for (const port of spec.ports ?? []) {
    port.protocol ||= "TCP";
    if (!port.targetPort) port.targetPort = port.port;
  }
  if (isExternallyAccessible(draft as Service)) spec.externalTrafficPolicy ||= "Cluster";
  if (spec.type === "ClusterIP" || spec.type === "NodePort" || spec.type === "LoadBalancer")
    spec.internalTrafficPolicy ??= "Cluster";
  if (spec.type !== "LoadBalancer") return;
  spec.allocateLoadBalancerNodePorts ??= true;
  for (const point of draft.status?.loadBalancer?.ingress ?? []) if (point.ip) point.ipMode ??= "VIP";
}
