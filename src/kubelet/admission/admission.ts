/**
 * Whether a node takes a Pod. The scheduler has checked before; the kubelet checks again, because it knows what really
 * runs on the node and because a Pod with spec.nodeName set by hand has passed no scheduler. Pure.
 *
 * The checks, their order and their messages are the kubelet's: system, groups, features, sysctls, resources, node
 * affinity, host ports, NoExecute taints.
 */
import {
  addQuantities,
  compareQuantities,
  type core,
  isExtendedResource,
  missingNodeFeatures,
  neededNodeFeatures,
  parseQuantity,
  type Quantity,
  scaledValue,
  zeroQuantity,
} from "#api";
import type { PodFailure } from "../lifecycle/index.ts";
import { matchesNode } from "./node-affinity.ts";
import type { ResizeVerdict } from "./resize.ts";
import { isTolerated } from "./taints.ts";
import { requestsOf, type Usage } from "./usage.ts";

type Amounts = Readonly<Record<string, string>>;

export interface AdmissionFacts {
  readonly node: Pick<core.Node, "metadata" | "spec" | "status">;
  readonly allocatable: Amounts;
  readonly allowedUnsafeSysctls: readonly string[];
  /** Undefined: the gate NodeDeclaredFeatures is off, nothing is checked. */
  readonly declaredFeatures?: readonly string[] | undefined;
}

const SAFE_SYSCTLS = new Set([
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ping_group_range",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.tcp_wmem",
]);

/** Why the node cannot take the Pod beside those that use it already; undefined if it can. */
export function admitPod(pod: core.Pod, usage: Usage, facts: AdmissionFacts): PodFailure | undefined {
  const { node, allocatable } = facts;
  return (
    osProblem(pod) ??
    groupsProblem(pod, node) ??
    featuresProblem(pod, facts) ??
    sysctlProblem(pod, facts) ??
    resourceProblem(pod, usage, allocatable) ??
    placeProblem(pod, usage, node)
  );
}

/** Whether a Pod that asks for other resources fits: never on this node, not now, or now. */
export function admitResize(pod: core.Pod, usage: Usage, allocatable: Amounts): ResizeVerdict {
  const missing = shortages(pod, usage, allocatable);
  const never = missing.find(({ requested, capacity }) => compareQuantities(requested, capacity) > 0);
  if (never !== undefined) {
    const [wanted, most] = [shown(never.resource, never.requested), shown(never.resource, never.capacity)];
    const message = `Node didn't have enough capacity: ${never.resource}, requested: ${wanted}, capacity: ${most}`;
    return { fits: false, reason: "Infeasible", message };
  }
  const [now] = missing;
  return now === undefined ? { fits: true } : { fits: false, reason: "Deferred", message: shortageMessage(now) };
}

function osProblem({ spec }: core.Pod): PodFailure | undefined {
  if (spec?.os === undefined || spec.os.name === "linux") return undefined;
  return { reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS" };
}

/** A runtime that cannot keep an image's own groups away from a container says so by silence. */
function groupsProblem({ spec }: core.Pod, { status }: AdmissionFacts["node"]): PodFailure | undefined {
  if (spec?.securityContext?.supplementalGroupsPolicy !== "Strict") return undefined;
  if (status?.features?.supplementalGroupsPolicy === true) return undefined;
  return {
    reason: "SupplementalGroupsPolicyNotSupported",
    message: "SupplementalGroupsPolicy=Strict is not supported in this node",
  };
}

function featuresProblem({ spec }: core.Pod, { declaredFeatures }: AdmissionFacts): PodFailure | undefined {
  if (declaredFeatures === undefined) return undefined;
  const missing = missingNodeFeatures(neededNodeFeatures(spec), declaredFeatures);
  if (missing.length === 0) return undefined;
  return {
    reason: "PodFeatureUnsupported",
    message: `Pod requires node features that are not available: ${missing.join(", ")}`,
  };
}

function sysctlProblem({ spec }: core.Pod, { allowedUnsafeSysctls }: AdmissionFacts): PodFailure | undefined {
  const isAllowed = (name: string) =>
    SAFE_SYSCTLS.has(name) ||
    allowedUnsafeSysctls.some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : each === name));
  for (const { name } of spec?.securityContext?.sysctls ?? []) {
    const plain = name.replaceAll("/", ".");
    if (!isAllowed(plain))
      return { reason: "SysctlForbidden", message: `forbidden sysctl: "${plain}" not allowlisted` };
    const shared =
      (plain.startsWith("net.") && spec?.hostNetwork) ||
      (/^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/.test(plain) && spec?.hostIPC);
    if (shared) {
      const what = plain.startsWith("net.") ? "net" : "ipc";
      return {
        reason: "SysctlForbidden",
        message: `forbidden sysctl: "${plain}" not allowed with host ${what} enabled`,
      };
    }
  }
  return undefined;
}

interface Shortage {
  readonly resource: string;
  readonly requested: Quantity;
  readonly used: Quantity;
  readonly capacity: Quantity;
}

function resourceProblem(pod: core.Pod, usage: Usage, allocatable: Amounts): PodFailure | undefined {
  const [missing] = shortages(pod, usage, allocatable);
  return missing && { reason: `OutOf${missing.resource}`, message: shortageMessage(missing) };
}

/** The resources of which the node has too little left. */
function shortages(pod: core.Pod, usage: Usage, allocatable: Amounts): readonly Shortage[] {
  const found: Shortage[] = [];
  for (const [resource, requested] of Object.entries(requestsOf(pod))) {
    if (compareQuantities(requested, zeroQuantity) <= 0) continue;
    const amount = allocatable[resource];
    // Extended resources that the node does not know are resources of the whole cluster.
    if (amount === undefined && (resource === "pods" || isExtendedResource(resource))) continue;
    const capacity = parseQuantity(amount ?? "0");
    const used = usage.without(pod.metadata.uid ?? "", resource);
    if (compareQuantities(addQuantities(used, requested), capacity) <= 0) continue;
    found.push({ resource, requested, used, capacity });
  }
  return found;
}

function shortageMessage({ resource, requested, used, capacity }: Shortage): string {
  const [wanted, taken, most] = [requested, used, capacity].map((amount) => shown(resource, amount));
  return `Node didn't have enough resource: ${resource}, requested: ${wanted}, used: ${taken}, capacity: ${most}`;
}

/** CPU is counted in thousandths. */
function shown(resource: string, amount: Quantity): bigint {
  return scaledValue(amount, resource === "cpu" ? -3 : 0);
}

function placeProblem(pod: core.Pod, usage: Usage, node: AdmissionFacts["node"]): PodFailure | undefined {
  if (!matchesNode(pod, node)) return failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
  if (usage.hasPortsOf(pod)) return failed("NodePorts", "node(s) didn't have free ports for the requested pod ports");
  if (!isTolerated(pod, node)) return failed("TaintToleration", "node(s) had taints that the pod didn't tolerate");
  return undefined;
}

function failed(predicate: string, why: string): PodFailure {
  return { reason: predicate, message: `Predicate ${predicate} failed: ${why}` };
}
