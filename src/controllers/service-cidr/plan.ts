/**
 * The next writes for a ServiceCIDR.
 *
 *     new or in use                                          finalizer and Ready
 *     terminating, with addresses that no other CIDR has     not ready, with the reason
 *     terminating, without                                   remove the finalizer, after a delay
 */
import { contains, formatTime, instantOf, kinds, type networking, parseCidr, parseIp } from "#api";
import type { RecordedEvent } from "#client";
import type { Plan, Write } from "../runtime/index.ts";

export type Range = networking.ServiceCIDR;

const FINALIZER = "networking.k8s.io/service-cidr-finalizer";
const GRACE_MS = 10_000;

const READY = { type: "Ready", status: "True", reason: "", message: "Kubernetes Service CIDR is ready" };
const BLOCKED = {
  type: "Ready",
  status: "False",
  reason: "Terminating",
  message: "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
};

export interface RangeFacts {
  /** CIDRs that are not terminating. */
  readonly others: readonly Range[];
  /** Addresses of Services. */
  readonly addresses: () => Iterable<string>;
}

export function planRange(range: Range, { others, addresses }: RangeFacts, now: number): Plan {
  const { deletionTimestamp, finalizers = [] } = range.metadata;
  const isHeld = finalizers.includes(FINALIZER);
  if (deletionTimestamp === undefined)
    return {
      steps: [isHeld ? [] : [finalizerWrite(range, "finalizers")], statusWrites(range, READY, now)],
      eventFor: (write, { ok }) =>
        ok || write.verb !== "patch" || write.subresource === undefined ? undefined : notReady(range),
    };
  if (leavesOrphans(range, others, addresses)) return { steps: [statusWrites(range, BLOCKED, now)] };
  const leftMs = Date.parse(deletionTimestamp) + GRACE_MS - now;
  if (leftMs > 0) return { againAfterMs: leftMs };
  return { steps: [isHeld ? [finalizerWrite(range, "$deleteFromPrimitiveList/finalizers")] : []] };
}

/** Whether an address of this CIDR is in no other CIDR. */
export function leavesOrphans(range: Range, others: readonly Range[], addresses: () => Iterable<string>): boolean {
  if (cidrsOf(range).every((cidr) => others.some((other) => covers(other, cidr)))) return false;
  for (const address of addresses())
    if (has(range, address) && !others.some((other) => has(other, address))) return true;
  return false;
}

/** Whether the CIDR contains an address. */
export function has(range: Range, address: string): boolean {
  const ip = parseIp(address);
  return ip !== undefined && cidrsOf(range).some((cidr) => contains(cidr, ip));
}

/** Whether two CIDRs overlap. */
export function overlap(a: Range, b: Range): boolean {
  return cidrsOf(a).some((cidr) => cidrsOf(b).some((other) => contains(cidr, other) || contains(other, cidr)));
}

function covers(range: Range, inner: ReturnType<typeof cidrsOf>[number]): boolean {
  return cidrsOf(range).some((cidr) => cidr.prefixLength <= inner.prefixLength && contains(cidr, inner));
}

function cidrsOf({ spec }: Range) {
  return (spec?.cidrs ?? []).flatMap((cidr) => parseCidr(cidr) ?? []);
}

function notReady(about: Range): RecordedEvent {
  const note = "The ServiceCIDR Status can not be set to Ready=True";
  return { about, type: "Warning", reason: "KubernetesServiceCIDRError", note };
}

function finalizerWrite(object: Range, field: string): Write {
  return { verb: "patch", resource: kinds.ServiceCIDR, object, patch: { metadata: { [field]: [FINALIZER] } } };
}

function statusWrites(object: Range, wanted: typeof READY, now: number): readonly Write[] {
  const before = object.status?.conditions?.find(({ type }) => type === wanted.type);
  const { status, reason = "", message = "", lastTransitionTime } = before ?? {};
  if (status === wanted.status && reason === wanted.reason && message === wanted.message) return [];
  const since = status === wanted.status ? lastTransitionTime : undefined;
  const condition = { ...wanted, lastTransitionTime: since ?? formatTime(instantOf(now)) };
  const patch = { status: { conditions: [condition] } };
  return [{ verb: "patch", resource: kinds.ServiceCIDR, object, subresource: "status", patch }];
}
