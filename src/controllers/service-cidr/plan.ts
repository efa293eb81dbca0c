/**
 * What is next for a range of service addresses.
 *
 *     new or in use                                    the finalizer holds it, and it is ready
 *     to go, with addresses that no other range has    not ready, and why
 *     to go, with none                                 let go, a while after its deletion: API servers may not have heard of it yet
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
  /** Those that stay. */
  readonly others: readonly Range[];
  /** That Services have. */
  readonly addresses: () => Iterable<string>;
}

export function planRange(range: Range, { others, addresses }: RangeFacts, now: number): Plan {
  const { deletionTimestamp, finalizers = [] } = range.metadata;
  const isHeld = finalizers.includes(FINALIZER);
  if (deletionTimestamp === undefined)
    return {
      steps: [isHeld ? [] : [finalizerWrite(range, "finalizers")], statusWrites(range, READY, now)],
      told: (write, { ok }) =>
        ok || write.verb !== "patch" || write.subresource === undefined ? undefined : notReady(range),
    };
  if (leavesOrphans(range, others, addresses)) return { steps: [statusWrites(range, BLOCKED, now)] };
  const leftMs = Date.parse(deletionTimestamp) + GRACE_MS - now;
  if (leftMs > 0) return { againAfterMs: leftMs };
  return { steps: [isHeld ? [finalizerWrite(range, "$deleteFromPrimitiveList/finalizers")] : []] };
}

/** Whether there is an address of the range that no other range has. */
export function leavesOrphans(range: Range, others: readonly Range[], addresses: () => Iterable<string>): boolean {
  if (cidrsOf(range).every((cidr) => others.some((other) => covers(other, cidr)))) return false;
  for (const address of addresses())
    if (has(range, address) && !others.some((other) => has(other, address))) return true;
  return false;
}

/** Whether an address is of the range. */
export function has(range: Range, address: string): boolean {
  const ip = parseIp(address);
  return ip !== undefined && cidrsOf(range).some((cidr) => contains(cidr, ip));
}

/** Whether what becomes of one may matter to the other. */
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
