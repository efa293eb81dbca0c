/** What a Service of type LoadBalancer gets written: its finalizer, its status, and Events. */
import { type core, kinds } from "#api";
import type { RecordedEvent } from "#client";
import type { Plan, Write } from "#controllers";

export const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";

type Service = core.Service;

export function isWanted({ metadata, spec }: Service, loadBalancerClass: string | undefined): boolean {
  if (spec?.type !== "LoadBalancer" || metadata.deletionTimestamp !== undefined) return false;
  return spec.loadBalancerClass === undefined || spec.loadBalancerClass === loadBalancerClass;
}

export function isHeld({ metadata }: Service): boolean {
  return metadata.finalizers?.includes(FINALIZER) === true;
}

export function hasAddress({ status }: Service): boolean {
  return (status?.loadBalancer?.ingress ?? []).length > 0;
}

export function planFinalizer(service: Service): Plan {
  return { steps: [[finalizerWrite(service, "finalizers")]] };
}

/** `wasCalled`: the cloud was asked; else only the status is put right. */
export function planStatus(service: Service, status: core.LoadBalancerStatus, wasCalled: boolean): Plan {
  const isRight = ingressText(service.status?.loadBalancer ?? {}) === ingressText(status);
  return {
    steps: isRight ? [] : [[statusWrite(service, status)]],
    events: wasCalled ? [normal(service, "EnsuredLoadBalancer", "Ensured load balancer")] : [],
  };
}

export function planRemoval(service: Service): Plan {
  const isEnding = service.metadata.deletionTimestamp !== undefined;
  const status = hasAddress(service) && !isEnding ? [statusWrite(service, {})] : [];
  return {
    steps: [status, [finalizerWrite(service, "$deleteFromPrimitiveList/finalizers")]],
    events: [
      normal(service, "DeletingLoadBalancer", "Deleting load balancer"),
      normal(service, "DeletedLoadBalancer", "Deleted load balancer"),
    ],
  };
}

/** The changes that administrators look for in Events. */
const CHANGES: readonly (readonly [reason: string, value: (spec: core.ServiceSpec) => string])[] = [
  ["LoadBalancerSourceRanges", ({ loadBalancerSourceRanges: ranges = [] }) => `[${ranges.join(" ")}]`],
  ["LoadbalancerIP", ({ loadBalancerIP = "" }) => loadBalancerIP],
  ["ExternalIP", ({ externalIPs = [] }) => `Count: ${externalIPs.length}`],
  ["ExternalTrafficPolicy", ({ externalTrafficPolicy = "" }) => externalTrafficPolicy],
  ["HealthCheckNodePort", ({ healthCheckNodePort = 0 }) => String(healthCheckNodePort)],
];

export function changeEvents(before: Service, service: Service): readonly RecordedEvent[] {
  return CHANGES.flatMap(([reason, value]) => {
    const [old, now] = [value(before.spec ?? {}), value(service.spec ?? {})];
    return old === now ? [] : [normal(service, reason, `${old} -> ${now}`)];
  });
}

export function normal(about: Service, reason: string, note: string): RecordedEvent {
  return { about, type: "Normal", reason, note };
}

export function warning(about: Service, reason: string, note: string): RecordedEvent {
  return { about, type: "Warning", reason, note };
}

function ingressText({ ingress = [] }: core.LoadBalancerStatus): string {
  return JSON.stringify(ingress.map(ingressOf));
}

function ingressOf({ ip, hostname, ipMode, ports }: core.LoadBalancerIngress) {
  return {
    ...(ip !== undefined && { ip }),
    ...(hostname !== undefined && { hostname }),
    ...(ipMode !== undefined && { ipMode }),
    ...(ports !== undefined && { ports: ports.map((port) => ({ ...port })) }),
  };
}

/** Patches the status only: the controller may write nothing else. */
function finalizerWrite(object: Service, field: string): Write {
  const patch = { metadata: { [field]: [FINALIZER] } };
  return { verb: "patch", resource: kinds.Service, object, subresource: "status", patch };
}

function statusWrite(object: Service, { ingress = [] }: core.LoadBalancerStatus): Write {
  const patch = { status: { loadBalancer: { ingress: ingress.length === 0 ? null : ingress.map(ingressOf) } } };
  return { verb: "patch", resource: kinds.Service, object, subresource: "status", type: "merge", patch };
}
