/** Flags of a kubelet that are fields of its KubeletConfiguration by another name. They override the file. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { boolean } from "../options/values.ts";

type Kind = "text" | "number" | "boolean" | "list" | "pairs" | "thresholds" | "reservedMemory";

/** Flag, field of the KubeletConfiguration, kind, and what it is for. */
const FLAGS: readonly (readonly [flag: string, field: string, kind: Kind, help: string])[] = [
  ["allowed-unsafe-sysctls", "allowedUnsafeSysctls", "list", "unsafe sysctls that Pods may set"],
  ["cgroup-driver", "cgroupDriver", "text", "cgroupfs or systemd; default: cgroupfs"],
  ["cgroups-per-qos", "cgroupsPerQOS", "boolean", "a level of cgroups for each QoS class"],
  ["container-log-max-files", "containerLogMaxFiles", "number", "files of a container's log"],
  ["container-log-max-size", "containerLogMaxSize", "text", "size at which a container's log is rotated"],
  ["cpu-cfs-quota", "cpuCFSQuota", "boolean", "enforce CPU limits"],
  ["cpu-cfs-quota-period", "cpuCFSQuotaPeriod", "text", "period of CPU limits, such as 100ms"],
  ["cpu-manager-policy", "cpuManagerPolicy", "text", "none or static"],
  ["cpu-manager-policy-options", "cpuManagerPolicyOptions", "pairs", "options such as full-pcpus-only=true"],
  ["cpu-manager-reconcile-period", "cpuManagerReconcilePeriod", "text", "how often CPUs of containers are checked"],
  ["enable-debugging-handlers", "enableDebuggingHandlers", "boolean", "serve logs, exec, attach and port-forward"],
  ["enable-server", "enableServer", "boolean", "serve the kubelet's API"],
  ["enforce-node-allocatable", "enforceNodeAllocatable", "list", "pods, system-reserved, kube-reserved, or none"],
  ["eviction-max-pod-grace-period", "evictionMaxPodGracePeriod", "number", "seconds, for soft evictions"],
  ["eviction-minimum-reclaim", "evictionMinimumReclaim", "pairs", "such as nodefs.available=2Gi"],
  ["eviction-pressure-transition-period", "evictionPressureTransitionPeriod", "text", "how long a pressure lasts"],
  ["eviction-soft", "evictionSoft", "thresholds", "such as memory.available<500Mi"],
  ["eviction-soft-grace-period", "evictionSoftGracePeriod", "pairs", "such as memory.available=90s"],
  ["fail-cgroupv1", "failCgroupV1", "boolean", "do not start on cgroup v1"],
  ["fail-swap-on", "failSwapOn", "boolean", "do not start on a machine with swap"],
  ["kube-reserved-cgroup", "kubeReservedCgroup", "text", "cgroup of Kubernetes components"],
  ["local-storage-capacity-isolation", "localStorageCapacityIsolation", "boolean", "count and limit local storage"],
  ["memory-manager-policy", "memoryManagerPolicy", "text", "None or Static"],
  ["node-status-max-images", "nodeStatusMaxImages", "number", "images in the Node's status; -1: all"],
  ["node-status-update-frequency", "nodeStatusUpdateFrequency", "text", "how often the Node's status is computed"],
  ["oom-score-adj", "oomScoreAdj", "number", "the kubelet's own, from -1000 to 1000"],
  ["pods-per-core", "podsPerCore", "number", "the most Pods for each CPU"],
  ["protect-kernel-defaults", "protectKernelDefaults", "boolean", "do not start if the kernel is set otherwise"],
  ["provider-id", "providerID", "text", "the Node's providerID"],
  ["read-only-port", "readOnlyPort", "number", "refused: every request is authenticated"],
  ["register-node", "registerNode", "boolean", "always true"],
  ["reserved-cpus", "reservedSystemCPUs", "text", "CPUs for the system, such as 0-1"],
  ["reserved-memory", "reservedMemory", "reservedMemory", "such as 0:memory=1Gi;1:memory=2Gi"],
  ["system-reserved-cgroup", "systemReservedCgroup", "text", "cgroup of the system's processes"],
  ["topology-manager-policy", "topologyManagerPolicy", "text", "none, best-effort, restricted, single-numa-node"],
  [
    "topology-manager-policy-options",
    "topologyManagerPolicyOptions",
    "pairs",
    "such as prefer-closest-numa-nodes=true",
  ],
  ["topology-manager-scope", "topologyManagerScope", "text", "container or pod"],
];

export function addFieldFlags(command: Command): void {
  for (const [flag, , kind, help] of FLAGS) {
    const value = kind === "boolean" ? "[bool]" : `<${kind === "text" ? "value" : kind}>`;
    const option = new Option(`--${flag} ${value}`, help).hideHelp().argParser(PARSERS[kind]);
    command.addOption(kind === "boolean" ? option.preset("true") : option);
  }
}

/** The fields that the flags set. */
export function fieldsOfFlags(options: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const given = FLAGS.flatMap(([flag, field]) => {
    const value = options[flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
    return value === undefined ? [] : [[field, value]];
  });
  return Object.fromEntries(given);
}

export function list(value: string): readonly string[] {
  return value
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

/** `a=b,c=d`; a part without the sign has an empty value. */
export function pairs(sign: "=" | "<"): (value: string) => Readonly<Record<string, string>> {
  return (value) =>
    Object.fromEntries(
      list(value).map((pair) => {
        const at = pair.indexOf(sign);
        return at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
      }),
    );
}

const PARSERS: Readonly<Record<Kind, (value: string) => unknown>> = {
  text: (value) => value,
  number: (value) => {
    if (!/^-?\d{1,15}$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
    return Number(value);
  },
  boolean,
  list,
  pairs: pairs("="),
  thresholds: pairs("<"),
  reservedMemory,
};

/** `0:memory=1Gi,hugepages-2Mi=4Mi;1:memory=2Gi`. */
function reservedMemory(value: string): readonly unknown[] {
  return value.split(";").map((part) => {
    const match = /^(\d+):(.+)$/.exec(part.trim());
    if (match === null) throw new InvalidArgumentError("It must be such as 0:memory=1Gi;1:memory=2Gi.");
    return { numaNode: Number(match[1]), limits: pairs("=")(match[2] ?? "") };
  });
}
