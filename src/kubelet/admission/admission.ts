/**
 * Whether a node takes a Pod. The scheduler has decided already; this is the last word of the node, which knows what runs on it. Pure.
 */
import {
  addQuantities,
  compareQuantities,
  type core,
  parseQuantity,
  podRequests,
  type Quantity,
  scaledValue,
  subtractQuantities,
  zeroQuantity,
} from "#api";
import type { PodFailure } from "../lifecycle/index.ts";
import { matchesNode } from "./node-affinity.ts";
import type { ResizeVerdict } from "./resize.ts";

export interface AdmissionFacts {
  readonly node: Pick<core.Node, "metadata">;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly allowedUnsafeSysctls: readonly string[];
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

export function admitPod(pod: core.Pod, active: readonly core.Pod[], facts: AdmissionFacts): PodFailure | undefined {
  return (
    osProblem(pod) ??
    sysctlProblem(pod, facts) ??
    resourceProblem(pod, active, facts) ??
    placeProblem(pod, active, facts)
  );
}

function osProblem({ spec }: core.Pod): PodFailure | undefined {
  if (spec?.os === undefined || spec.os.name === "linux") return undefined;
  return { reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS" };
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

function resourceProblem(
  pod: core.Pod,
  active: readonly core.Pod[],
  { allocatable }: Pick<AdmissionFacts, "allocatable">,
): PodFailure | undefined {
  const room = Number(allocatable.pods ?? Number.POSITIVE_INFINITY);
  if (active.length + 1 > room) return outOf("pods", 1n, BigInt(active.length), BigInt(room));
  for (const [name, wanted] of Object.entries(podRequests(pod))) {
    if (compareQuantities(wanted, zeroQuantity) === 0) continue;
    const capacity = parseQuantity(allocatable[name] ?? "0");
    const used = active.reduce(
      (sum: Quantity, each) => addQuantities(sum, podRequests(each)[name] ?? zeroQuantity),
      zeroQuantity,
    );
    if (compareQuantities(wanted, subtractQuantities(capacity, used)) <= 0) continue;
    const scale = name === "cpu" ? -3 : 0;
    return outOf(name, scaledValue(wanted, scale), scaledValue(used, scale), scaledValue(capacity, scale));
  }
  return undefined;
}

/** Whether a Pod that asks for other resources fits: never on this node, not now, or now. */
export function admitResize(
  pod: core.Pod,
  others: readonly core.Pod[],
  allocatable: AdmissionFacts["allocatable"],
): ResizeVerdict {
  const facts = { allocatable };
  const alone = resourceProblem(pod, [], facts);
  if (alone !== undefined) {
    const message = alone.message.replace("enough resource:", "enough capacity:").replace(/, used: \d+/, "");
    return { fits: false, reason: "Infeasible", message };
  }
  const beside = resourceProblem(pod, others, facts);
  return beside === undefined ? { fits: true } : { fits: false, reason: "Deferred", message: beside.message };
}

function outOf(name: string, requested: bigint, used: bigint, capacity: bigint): PodFailure {
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${name}`, message: `Node didn't have enough resource: ${name}, ${amounts}` };
}

function placeProblem(pod: core.Pod, active: readonly core.Pod[], { node }: AdmissionFacts): PodFailure | undefined {
  if (!matchesNode(pod, node)) {
    const message = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    return { reason: "NodeAffinity", message };
  }
  const taken = active.flatMap(hostPorts);
  if (hostPorts(pod).some((port) => taken.some((other) => collides(port, other)))) {
    const message = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
    return { reason: "NodePorts", message };
  }
  return undefined;
}

function hostPorts({ spec }: core.Pod): readonly core.ContainerPort[] {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...sidecars, ...(spec?.containers ?? [])]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0);
}

function collides(a: core.ContainerPort, b: core.ContainerPort): boolean {
  const ip = ({ hostIP = "" }: core.ContainerPort) => (hostIP === "" ? "0.0.0.0" : hostIP);
  const sameIp = ip(a) === ip(b) || ip(a) === "0.0.0.0" || ip(b) === "0.0.0.0";
  return a.hostPort === b.hostPort && (a.protocol ?? "TCP") === (b.protocol ?? "TCP") && sameIp;
}
