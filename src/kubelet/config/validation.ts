/** What is wrong with a KubeletConfiguration as a whole, in upstream's words. Pure. */
import { formatDuration, parseDuration, parseQuantity } from "#api";
import { parseImageName, VERIFICATION_POLICIES } from "../images/index.ts";
import { parseCpuSet } from "../topology/index.ts";
import type { Document } from "./document.ts";

export interface ValidationFacts {
  readonly enabled: (gate: string) => boolean;
}

type Check = (document: Document, facts: ValidationFacts) => readonly string[];

const SECOND = 1_000_000_000n;

/** All problems, each with upstream's `invalid configuration: `. */
export function configurationProblems(document: Document, facts: ValidationFacts): readonly string[] {
  return CHECKS.flatMap((check) => check(document, facts)).map((problem) => `invalid configuration: ${problem}`);
}

const number = (document: Document, name: string) => Number(document[name] ?? 0);
const text = (document: Document, name: string) => String(document[name] ?? "");
const time = (document: Document, name: string) => parseDuration(String(document[name] ?? "0s"));

const notNegative =
  (name: string, flag: string): Check =>
  (document) =>
    number(document, name) < 0 ? [`${name} (--${flag}) ${number(document, name)} must not be a negative number`] : [];

const between =
  (name: string, flag: string, least: number, most: number): Check =>
  (document) => {
    const value = number(document, name);
    if (Number.isInteger(value) && value >= least && value <= most) return [];
    return [`${name} (--${flag}) ${value} must be between ${least} and ${most}, inclusive`];
  };

const oneOf =
  (name: string, flag: string, values: readonly string[]): Check =>
  (document) => {
    const value = text(document, name);
    const list = `[${values.map((each) => `"${each}"`).join(" ")}]`;
    return values.includes(value) ? [] : [`${name} (--${flag}) "${value}" must be one of: ${list}`];
  };

const COMPRESSIBLE = ["system-reserved-compressible", "kube-reserved-compressible"];
const ENFORCEMENTS = ["pods", "system-reserved", COMPRESSIBLE[0], "kube-reserved", COMPRESSIBLE[1], "none"];

const enforcement: Check = (document) => {
  const given = (document.enforceNodeAllocatable ?? []) as readonly string[];
  const flag = "enforceNodeAllocatable (--enforce-node-allocatable)";
  const problems: string[] = [];
  for (const name of ["system-reserved", "kube-reserved"])
    if (given.includes(name) && given.includes(`${name}-compressible`))
      problems.push(`both "${name}" and "${name}-compressible" cannot be specified together in ${flag}`);
  for (const [at, value] of given.entries()) {
    if (given.indexOf(value) < at) problems.push(`duplicated enforcements "${value}" in ${flag}`);
    else if (!ENFORCEMENTS.includes(value)) {
      const [first, ...rest] = ENFORCEMENTS.map((each) => `"${each}"`).reverse();
      problems.push(
        `option "${value}" specified for ${flag}. Valid options are ${rest.reverse().join(", ")} or ${first}`,
      );
    } else if (value === "none") {
      if (given.length > 1) problems.push(`${flag} may not contain additional enforcements when "none" is specified`);
    } else {
      problems.push(...reservedCgroup(document, value));
      if (document.cgroupsPerQOS === false)
        problems.push(`cgroupsPerQOS (--cgroups-per-qos) must be set to true when "${value}" contained in ${flag}`);
    }
  }
  return problems;
};

function reservedCgroup(document: Document, value: string): readonly string[] {
  for (const who of ["system", "kube"]) {
    const field = `${who}ReservedCgroup`;
    if (value.startsWith(`${who}-reserved`) && text(document, field) === "")
      return [
        `${field} (--${who}-reserved-cgroup) must be specified when "${who}-reserved" or "${who}-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable)`,
      ];
  }
  return [];
}

const reservedCpus: Check = (document) => {
  const cpus = text(document, "reservedSystemCPUs");
  if (cpus === "") return [];
  const problems: string[] = [];
  if (text(document, "systemReservedCgroup") !== "" || text(document, "kubeReservedCgroup") !== "")
    problems.push(
      "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
    );
  try {
    parseCpuSet(cpus);
  } catch (error) {
    problems.push(`unable to parse reservedSystemCPUs (--reserved-cpus) ${cpus}, error: ${(error as Error).message}`);
  }
  return problems;
};

const reservedMemory: Check = (document) => {
  const list = (document.reservedMemory ?? []) as readonly { numaNode?: number; limits?: Record<string, string> }[];
  const problems: string[] = [];
  const seen = new Set<string>();
  if (document.memoryManagerPolicy !== "Static" && list.length > 0)
    problems.push(
      `reservedMemory (--reserved-memory) configuration is only relevant when memoryManagerPolicy (--memory-manager-policy) is set to "Static"`,
    );
  for (const { numaNode = 0, limits = {} } of list) {
    if (Object.keys(limits).length === 0)
      problems.push(`reservedMemory (--reserved-memory) for NUMA node ${numaNode} has no limits`);
    for (const [resource, amount] of Object.entries(limits)) {
      if (resource !== "memory" && !resource.startsWith("hugepages-"))
        problems.push(
          `the limit type "${resource}" for NUMA node ${numaNode} is invalid, only memory and huge pages are allowed`,
        );
      if (seen.has(`${numaNode}/${resource}`))
        problems.push(`the reserved memory has a duplicate value for NUMA node ${numaNode} and resource "${resource}"`);
      seen.add(`${numaNode}/${resource}`);
      if (!isPositive(amount))
        problems.push(`reserved memory may not be zero for NUMA node ${numaNode} and resource "${resource}"`);
    }
  }
  return problems;
};

function isPositive(amount: unknown): boolean {
  try {
    return parseQuantity(String(amount)).unscaled > 0n;
  } catch {
    return false;
  }
}

const shutdown: Check = (document, { enabled }) => {
  const [total, critical] = [time(document, "shutdownGracePeriod"), time(document, "shutdownGracePeriodCriticalPods")];
  const byPriority = ((document.shutdownGracePeriodByPodPriority ?? []) as readonly unknown[]).length > 0;
  const problems: string[] = [];
  const shown = (value: bigint) => `{${formatDuration(value)}}`;
  if (critical > total)
    problems.push(`shutdownGracePeriodCriticalPods ${shown(critical)} must be <= shutdownGracePeriod ${shown(total)}`);
  for (const [name, value] of [
    ["shutdownGracePeriod", total],
    ["shutdownGracePeriodCriticalPods", critical],
  ] as const)
    if (value < 0n || (value > 0n && value < SECOND))
      problems.push(`${name} ${shown(value)} must be either zero or otherwise >= 1 sec`);
  if ((total > 0n || critical > 0n) && !enabled("GracefulNodeShutdown"))
    problems.push(
      "specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown",
    );
  if (byPriority && (total > 0n || critical > 0n))
    problems.push("Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time");
  if (byPriority && !enabled("GracefulNodeShutdownBasedOnPodPriority"))
    problems.push(
      "Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority",
    );
  return problems;
};

const crashLoop: Check = (document, { enabled }) => {
  const { maxContainerRestartPeriod: longest } = (document.crashLoopBackOff ?? {}) as Record<string, unknown>;
  if (longest === undefined) return [];
  if (!enabled("KubeletCrashLoopBackOffMax"))
    return [
      "FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set",
    ];
  const seconds = Number(parseDuration(String(longest))) / 1e9;
  if (seconds >= 1 && seconds <= 300) return [];
  return [`CrashLoopBackOff.MaxContainerRestartPeriod (got: ${seconds} seconds) must be set between 1s and 300s`];
};

const memory: Check = (document, { enabled }) => {
  const factor = Number(document.memoryThrottlingFactor);
  const policy = text(document, "memoryReservationPolicy");
  const { swapBehavior = "" } = (document.memorySwap ?? {}) as Record<string, unknown>;
  return [
    ...(factor > 0 && factor <= 1
      ? []
      : [`memoryThrottlingFactor ${factor} must be greater than 0 and less than or equal to 1.0`]),
    ...(["None", "TieredReservation"].includes(policy)
      ? []
      : [`option "${policy}" specified for memoryReservationPolicy. Valid options are "None" or "TieredReservation"`]),
    ...(policy === "TieredReservation" && !enabled("MemoryQoS")
      ? [`memoryReservationPolicy "${policy}" requires MemoryQoS feature gate to be enabled`]
      : []),
    ...(["", "LimitedSwap", "NoSwap"].includes(String(swapBehavior))
      ? []
      : [`memorySwap.swapBehavior "${swapBehavior}" must be one of: "", "LimitedSwap" or "NoSwap"`]),
  ];
};

const logs: Check = (document, { enabled }) => {
  const path = text(document, "podLogsDir");
  const isClean = path === "/" || !/\/\/|\/\.{1,2}(\/|$)|.\/$/.test(path);
  return [
    ...(document.enableSystemLogQuery === true && !enabled("NodeLogQuery")
      ? ["NodeLogQuery feature gate is required for enableSystemLogQuery"]
      : []),
    ...(document.enableSystemLogQuery === true && document.enableSystemLogHandler === false
      ? ["enableSystemLogHandler is required for enableSystemLogQuery"]
      : []),
    ...(number(document, "containerLogMaxWorkers") < 1
      ? ["containerLogMaxWorkers must be greater than or equal to 1"]
      : []),
    ...(time(document, "containerLogMonitorInterval") < 3n * SECOND
      ? ["containerLogMonitorInterval must be a positive time duration greater than or equal to 3s"]
      : []),
    ...(number(document, "containerLogMaxFiles") <= 1 ? ["containerLogMaxFiles must be greater than 1"] : []),
    ...(path.startsWith("/") ? [] : [`pod logs path "${path}" must be absolute path`]),
    ...(isClean ? [] : [`pod logs path "${path}" must be normalized`]),
  ];
};

const images: Check = (document) => {
  const [high, low] = [number(document, "imageGCHighThresholdPercent"), number(document, "imageGCLowThresholdPercent")];
  if (low < high) return [];
  return [
    `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`,
  ];
};

const pulls: Check = (document) => {
  const { maxParallelImagePulls: parallel, serializeImagePulls, preloadedImagesVerificationAllowlist } = document;
  const policy = text(document, "imagePullCredentialsVerificationPolicy");
  const allowed = (preloadedImagesVerificationAllowlist ?? []) as readonly string[];
  const odd = allowed.filter((each) => !isAllowlistPattern(each));
  const problems: string[] = [];
  if (parallel !== undefined && Number(parallel) < 1)
    problems.push(`maxParallelImagePulls ${parallel} must be a positive number`);
  if (serializeImagePulls === true && Number(parallel ?? 1) > 1)
    problems.push(
      "maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is false",
    );
  if (!VERIFICATION_POLICIES.some((each) => each === policy))
    problems.push(
      `option "${policy}" specified for imagePullCredentialsVerificationPolicy. Valid options are ${VERIFICATION_POLICIES.map((each) => `"${each}"`).join(", ")}`,
    );
  if (allowed.length > 0 && policy !== "NeverVerifyAllowlistedImages")
    problems.push(
      'can\'t set preloadedImagesVerificationAllowlist if imagePullCredentialsVerificationPolicy is not "NeverVerifyAllowlistedImages"',
    );
  if (odd.length > 0)
    problems.push(
      `preloadedImagesVerificationAllowlist must be a list of repositories without tag and digest, which may end with /*: ${odd.join(", ")}`,
    );
  return problems;
};

/** Without tag and digest. */
function isAllowlistPattern(pattern: string): boolean {
  const name = parseImageName(pattern.replace(/\/\*$/, ""));
  return name !== undefined && name.tag === "" && name.digest === "";
}

const node: Check = (document) => [
  ...(number(document, "nodeLeaseDurationSeconds") <= 0 ? ["nodeLeaseDurationSeconds must be greater than 0"] : []),
  ...(number(document, "nodeStatusMaxImages") < -1
    ? [
        `nodeStatusMaxImages (--node-status-max-images) ${number(document, "nodeStatusMaxImages")} must be -1 or greater`,
      ]
    : []),
];

const quotaPeriod: Check = (document) => {
  const period = time(document, "cpuCFSQuotaPeriod");
  if (period >= SECOND / 1000n && period <= SECOND) return [];
  return [
    `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {${formatDuration(period)}} must be between 1ms and 1sec, inclusive`,
  ];
};

const users: Check = (document) => {
  const ids = Number((document.userNamespaces as Record<string, unknown> | undefined)?.idsPerPod ?? 65_536);
  if (ids % 65_536 === 0 && ids > 0 && ids < 2 ** 32) return [];
  return [`userNamespaces.idsPerPod ${ids} must be a multiple of 65536, and less than 4294967296`];
};

const CHECKS: readonly Check[] = [
  node,
  quotaPeriod,
  between("imageGCHighThresholdPercent", "image-gc-high-threshold", 0, 100),
  between("imageGCLowThresholdPercent", "image-gc-low-threshold", 0, 100),
  images,
  pulls,
  notNegative("maxPods", "max-pods"),
  between("oomScoreAdj", "oom-score-adj", -1000, 1000),
  notNegative("podsPerCore", "pods-per-core"),
  notNegative("evictionMaxPodGracePeriod", "eviction-max-pod-grace-period"),
  between("port", "port", 1, 65_535),
  oneOf("topologyManagerPolicy", "topology-manager-policy", ["none", "best-effort", "restricted", "single-numa-node"]),
  (document) =>
    ["container", "pod"].includes(text(document, "topologyManagerScope"))
      ? []
      : [
          `topologyManagerScope (--topology-manager-scope) "${text(document, "topologyManagerScope")}" must be one of: "container", or "pod"`,
        ],
  oneOf("cpuManagerPolicy", "cpu-manager-policy", ["none", "static"]),
  oneOf("memoryManagerPolicy", "memory-manager-policy", ["None", "Static"]),
  oneOf("cgroupDriver", "cgroup-driver", ["cgroupfs", "systemd"]),
  shutdown,
  crashLoop,
  enforcement,
  reservedCpus,
  reservedMemory,
  memory,
  logs,
  users,
];
