/** The PodSandboxConfig for the runtime. Pure. */
import { type core, parseQuantity, scaledValue } from "#api";
import type { LinuxResources, LinuxSandbox, PodSandboxConfig, PortMapping, UserNamespace } from "../runtime/runtime.ts";
import { cgroupParent } from "./cgroup-names.ts";
import { podResolver } from "./dns.ts";
import { kernelHostname } from "./hostname.ts";
import { podLabels, podLogDirectory } from "./names.ts";
import type { NodeFacts } from "./node-facts.ts";
import { cpuQuota, cpuShares, podResources } from "./resources.ts";
import { groupsPolicy, idOf, namespaces, profile, selinuxLabels, supplementalGroups } from "./security.ts";

export function podSandboxConfig(
  pod: core.Pod,
  attempt: number,
  facts: NodeFacts,
  users?: UserNamespace | undefined,
): PodSandboxConfig {
  const { metadata } = pod;
  const { name = "", namespace = "", uid = "" } = metadata;
  return {
    metadata: { name, namespace, uid, attempt },
    hostname: pod.spec?.hostNetwork === true ? "" : kernelHostname(pod, facts.clusterDomain),
    logDirectory: podLogDirectory(facts.podLogsRoot, pod),
    dns: podResolver(pod, facts),
    portMappings: portMappings(pod),
    labels: { ...metadata.labels, ...podLabels(pod) },
    annotations: metadata.annotations ?? {},
    linux: linuxSandbox(pod, facts, users),
  };
}

/** Pods on the host network need no port mappings. */
export function portMappings({ spec }: core.Pod): readonly PortMapping[] {
  if (spec?.hostNetwork === true) return [];
  const { containers = [], initContainers = [] } = spec ?? {};
  const ports = [...initContainers, ...containers].flatMap((container) => container.ports ?? []);
  return ports
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ protocol = "TCP", containerPort, hostPort = 0, hostIP = "" }) => ({
      protocol,
      containerPort,
      hostPort,
      hostIp: hostIP,
    }));
}

function linuxSandbox(
  pod: core.Pod,
  { cgroupRoot, seccompRoot, rules }: NodeFacts,
  users: UserNamespace | undefined,
): LinuxSandbox {
  const { securityContext: shared = {}, containers = [], initContainers = [], overhead } = pod.spec ?? {};
  const seccomp = profile(shared.seccompProfile, (name) => `${seccompRoot}/${name}`);
  const shown = { ...namespaces(pod), ...(users !== undefined && { users }) };
  return {
    cgroupParent: cgroupParent(cgroupRoot, pod),
    sysctls: Object.fromEntries((shared.sysctls ?? []).map(({ name, value }) => [name.replaceAll("/", "."), value])),
    namespaces: shown,
    runAsUser: idOf(shared.runAsUser),
    runAsGroup: idOf(shared.runAsGroup),
    supplementalGroups: supplementalGroups(pod),
    ...groupsPolicy(pod),
    privileged: [...initContainers, ...containers].some((each) => each.securityContext?.privileged === true),
    readonlyRootfs: false,
    seccomp: seccomp ?? { type: "RuntimeDefault" },
    selinux: selinuxLabels(shared.seLinuxOptions),
    resources: podResources(pod, { rules }),
    overhead: overhead && overheadOf(overhead),
  };
}

function overheadOf({ cpu, memory }: Readonly<Record<string, string>>): LinuxResources {
  const milli = cpu === undefined ? 0 : Number(scaledValue(parseQuantity(cpu), -3));
  return {
    cpuShares: cpuShares(milli),
    ...cpuQuota(milli),
    ...(memory !== undefined && { memoryLimitBytes: Number(scaledValue(parseQuantity(memory), 0)) }),
  };
}
