/** Warnings about fields of a service that have no effect or that are deprecated. */
import { cidrWarnings, ipWarnings } from "../../definition/ip-warnings.ts";
import { at } from "../../machinery/errors/field-error.ts";
import type { Service } from "../../types/core-v1.ts";

const oldHints = "service.kubernetes.io/topology-aware-hints";
const topologyMode = "service.kubernetes.io/topology-mode";

export function serviceWarnings({ metadata, spec = {} }: Service): readonly string[] {
  const { clusterIP = "", clusterIPs = [], externalIPs = [], loadBalancerIP = "", type } = spec;
  const where = at("spec");
  const warnings: string[] = [];
  if (metadata.annotations?.[oldHints] !== undefined)
    warnings.push(`annotation ${oldHints} is deprecated, please use ${topologyMode} instead`);
  if (clusterIP !== "" && clusterIP !== "None")
    for (const [i, ip] of clusterIPs.entries()) warnings.push(...ipWarnings(ip, where.child("clusterIPs").index(i)));
  if (type === "ClusterIP" && clusterIP === "None") {
    if (loadBalancerIP !== "") warnings.push("spec.loadBalancerIP is ignored for headless services");
    if (externalIPs.length > 0) warnings.push("spec.externalIPs is ignored for headless services");
    if (spec.sessionAffinity !== "None") warnings.push("spec.SessionAffinity is ignored for headless services");
  }
  for (const [i, ip] of externalIPs.entries()) warnings.push(...ipWarnings(ip, where.child("externalIPs").index(i)));
  warnings.push(...ipWarnings(loadBalancerIP, where.child("loadBalancerIP")));
  for (const [i, range] of (spec.loadBalancerSourceRanges ?? []).entries())
    warnings.push(...cidrWarnings(range, where.child("loadBalancerSourceRanges").index(i)));
  if (type === "ExternalName" && externalIPs.length > 0)
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (type !== "ExternalName" && spec.externalName)
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  return warnings;
}
