/**
 * Updates by clients that do not repeat what the server has allocated for a service.
 *
 * 1. Allocated values stay, unless the client sets others.
 * 2. Values that the new type does not use are dropped, if the client left them unchanged.
 */
import { equalJson } from "../../machinery/json/equal.ts";
import type { Json } from "../../machinery/json/json.ts";
import type { Draft } from "../../machinery/schema/object.ts";
import type { Service, ServiceSpec } from "../../types/core-v1.ts";
import { isExternallyAccessible, needsClusterIP, needsHealthCheckNodePort, needsNodePort } from "./needs.ts";

/** `clusterIP` is the first of `clusterIPs`: a client that knows only the one changes both. */
export function normalizeClusterIPs(draft: Draft<Service>, old?: Service): void {
  const spec = draft.spec;
  if (spec === undefined) return;
  if (old === undefined) {
    if (spec.clusterIP && (spec.clusterIPs ?? []).length === 0) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  if ((spec.clusterIP ?? "") === (old.spec?.clusterIP ?? "") || !same(spec, old.spec, "clusterIPs")) return;
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
  else delete spec.clusterIPs;
}

/** Fills in from `old` what was allocated and is still needed. */
export function keepAllocated(draft: Draft<Service>, old: Service): void {
  const { spec } = draft;
  if (spec === undefined || old.spec === undefined) return;
  const next = draft as Service;
  if (needsClusterIP(old) && needsClusterIP(next)) {
    if (!spec.clusterIP && old.spec.clusterIP) spec.clusterIP = old.spec.clusterIP;
    if (
      (spec.clusterIPs ?? []).length === 0 &&
      spec.clusterIP === old.spec.clusterIP &&
      old.spec.clusterIPs !== undefined
    ) {
      spec.clusterIPs = [...old.spec.clusterIPs];
    }
  }
  if (needsNodePort(old) && needsNodePort(next)) keepNodePorts(spec, old.spec);
  if (needsHealthCheckNodePort(old) && needsHealthCheckNodePort(next) && old.spec.healthCheckNodePort) {
    spec.healthCheckNodePort ||= old.spec.healthCheckNodePort;
  }
}

/** By the ports' names, none twice. */
function keepNodePorts(spec: Draft<ServiceSpec>, old: ServiceSpec): void {
  const wanted = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort ?? 0));
  const taken = new Set((old.ports ?? []).map(({ nodePort }) => nodePort ?? 0).filter((port) => wanted.has(port)));
  const byName = new Map((old.ports ?? []).map(({ name, nodePort }) => [name ?? "", nodePort ?? 0]));
  for (const port of spec.ports ?? []) {
    const before = byName.get(port.name ?? "") ?? 0;
    if (port.nodePort || before === 0 || taken.has(before)) continue;
    port.nodePort = before;
    taken.add(before);
  }
}

/** Drops what the new type does not use. The server then releases what `old` had and the draft no longer has. */
export function releaseOnTypeChange(draft: Draft<Service>, old: Service): void {
  const { spec } = draft;
  if (spec === undefined) return;
  const next = draft as Service;
  const unneeded = (needs: (service: Service) => boolean) => needs(old) && !needs(next);
  const drop = (field: keyof ServiceSpec) => {
    if (same(spec, old.spec, field)) delete spec[field];
  };
  if (unneeded(needsClusterIP)) {
    if (same(spec, old.spec, "clusterIPs")) delete spec.clusterIP;
    drop("clusterIPs");
    drop("ipFamilies");
    drop("ipFamilyPolicy");
    drop("internalTrafficPolicy");
  }
  if (unneeded(needsNodePort) && equalJson(nodePorts(spec), nodePorts(old.spec))) {
    for (const port of spec.ports ?? []) delete port.nodePort;
  }
  if (unneeded(needsHealthCheckNodePort)) drop("healthCheckNodePort");
  if (unneeded((service) => service.spec?.type === "LoadBalancer")) {
    drop("allocateLoadBalancerNodePorts");
    drop("loadBalancerClass");
  }
  if (unneeded(isExternallyAccessible)) drop("externalTrafficPolicy");
}

function nodePorts(spec: Draft<ServiceSpec> | ServiceSpec | undefined): Json {
  return (spec?.ports ?? []).map(({ nodePort }) => nodePort ?? 0);
}

function same(a: Draft<ServiceSpec>, b: ServiceSpec | undefined, field: keyof ServiceSpec): boolean {
  return equalJson((a[field] ?? null) as Json, (b?.[field] ?? null) as Json);
}
