/** From a KubeletConfiguration with all its defaults to the settings that the kubelet works with. Pure. */
import { type core, parseDuration, parseQuantity, scaledValue } from "#api";
import { readTracingSettings } from "#tracing";
import { type ShutdownPeriod, shutdownPeriods } from "../eviction/index.ts";
import type { MemoryReservation } from "../topology/index.ts";
import type { KubeletConfig } from "./config.ts";
import type { Document } from "./document.ts";

type Fixed =
  | "nodeName"
  | "nodeIps"
  | "podLogsRoot"
  | "rootDir"
  | "systemLogRoot"
  | "nodeLabels"
  | "document"
  | "credentialProviderConfig"
  | "credentialProviderBinDir"
  | "serverTls";

export type Settings = Omit<KubeletConfig, Fixed>;

/** Throws Error that names the field. */
export function settingsOf(document: Document): Settings {
  const text = (name: string) => String(document[name] ?? "");
  const number = (name: string) => Number(document[name] ?? 0);
  const truth = (name: string) => document[name] === true;
  const list = (name: string) => (document[name] ?? []) as readonly string[];
  const map = (name: string) => (document[name] ?? {}) as Readonly<Record<string, string>>;
  const ms = (name: string) => Number(parseDuration(text(name) || "0s")) / 1e6;
  const inside = (name: string) => (document[name] ?? {}) as Readonly<Record<string, unknown>>;
  const longest = inside("crashLoopBackOff").maxContainerRestartPeriod;
  const { tracing } = document;
  return {
    enableServer: truth("enableServer"),
    debuggingHandlers: truth("enableDebuggingHandlers"),
    systemLogs: truth("enableSystemLogHandler"),
    systemLogQuery: truth("enableSystemLogQuery"),
    oomScoreAdj: number("oomScoreAdj"),
    cgroupRoot: text("cgroupRoot") || "/",
    clusterDns: list("clusterDNS"),
    clusterDomain: text("clusterDomain"),
    resolvConf: text("resolvConf"),
    maxPods: number("maxPods"),
    podsPerCore: number("podsPerCore"),
    ...(text("staticPodPath") !== "" && { staticPodPath: text("staticPodPath") }),
    ...(text("staticPodURL") !== "" && { staticPodUrl: text("staticPodURL") }),
    ...(text("providerID") !== "" && { providerId: text("providerID") }),
    taints: (document.registerWithTaints ?? []) as readonly core.Taint[],
    kubeReserved: map("kubeReserved"),
    systemReserved: map("systemReserved"),
    evictionHard: map("evictionHard"),
    allowedUnsafeSysctls: list("allowedUnsafeSysctls"),
    seccompDefault: truth("seccompDefault"),
    podPidsLimit: number("podPidsLimit"),
    featureGates: (document.featureGates ?? {}) as Readonly<Record<string, boolean>>,
    port: number("port"),
    containerLogMaxBytes: Number(scaledValue(parseQuantity(text("containerLogMaxSize")), 0)),
    containerLogMaxFiles: number("containerLogMaxFiles"),
    containerLogWorkers: number("containerLogMaxWorkers"),
    containerLogIntervalMs: ms("containerLogMonitorInterval"),
    imageGcHighPercent: number("imageGCHighThresholdPercent"),
    imageGcLowPercent: number("imageGCLowThresholdPercent"),
    serializeImagePulls: truth("serializeImagePulls"),
    ...(document.maxParallelImagePulls !== undefined && { maxParallelImagePulls: number("maxParallelImagePulls") }),
    registryPullQps: number("registryPullQPS"),
    registryBurst: number("registryBurst"),
    imageVerification: {
      policy: text("imagePullCredentialsVerificationPolicy") as Settings["imageVerification"]["policy"],
      allowlist: list("preloadedImagesVerificationAllowlist"),
    },
    serverTlsBootstrap: truth("serverTLSBootstrap"),
    shutdownPeriods: shutdownIn(document),
    ...(tracing !== undefined && { tracing: tracingIn(tracing as Readonly<Record<string, unknown>>) }),
    localStorageIsolation: truth("localStorageCapacityIsolation"),
    ...(longest !== undefined && { longestRestartDelayMs: Number(parseDuration(String(longest))) / 1e6 }),
    protectKernelDefaults: truth("protectKernelDefaults"),
    idsPerPod: Number(inside("userNamespaces").idsPerPod ?? 65_536),
    eviction: {
      soft: map("evictionSoft"),
      softGraceMs: Object.fromEntries(
        Object.entries(map("evictionSoftGracePeriod")).map(([signal, each]) => [
          signal,
          Number(parseDuration(each)) / 1e6,
        ]),
      ),
      minimumReclaim: map("evictionMinimumReclaim"),
      maxPodGraceSeconds: number("evictionMaxPodGracePeriod"),
      transitionMs: ms("evictionPressureTransitionPeriod"),
    },
    cgroups: {
      driver: text("cgroupDriver") === "systemd" ? "systemd" : "cgroupfs",
      perQos: truth("cgroupsPerQOS"),
      enforce: list("enforceNodeAllocatable"),
      systemReserved: text("systemReservedCgroup"),
      kubeReserved: text("kubeReservedCgroup"),
      cpuQuota: truth("cpuCFSQuota"),
      cpuPeriodUs: ms("cpuCFSQuotaPeriod") * 1000,
      singleProcessOomKill: document.singleProcessOOMKill as boolean | undefined,
      memoryThrottlingFactor: number("memoryThrottlingFactor"),
      memoryReservation: text("memoryReservationPolicy") === "TieredReservation" ? "TieredReservation" : "None",
      failV1: truth("failCgroupV1"),
    },
    swap: {
      failOn: truth("failSwapOn"),
      behavior: inside("memorySwap").swapBehavior === "LimitedSwap" ? "LimitedSwap" : "NoSwap",
    },
    topology: {
      cpuPolicy: text("cpuManagerPolicy") === "static" ? "static" : "none",
      cpuOptions: map("cpuManagerPolicyOptions"),
      reconcileMs: ms("cpuManagerReconcilePeriod"),
      reservedCpus: text("reservedSystemCPUs"),
      memoryPolicy: text("memoryManagerPolicy") === "Static" ? "Static" : "None",
      reservedMemory: (document.reservedMemory ?? []) as readonly MemoryReservation[],
      policy: text("topologyManagerPolicy") as Settings["topology"]["policy"],
      scope: text("topologyManagerScope") === "pod" ? "pod" : "container",
      options: map("topologyManagerPolicyOptions"),
    },
    nodeStatus: {
      updateMs: ms("nodeStatusUpdateFrequency"),
      reportMs: ms("nodeStatusReportFrequency"),
      leaseSeconds: number("nodeLeaseDurationSeconds"),
      maxImages: number("nodeStatusMaxImages"),
    },
  };
}

function tracingIn(value: Readonly<Record<string, unknown>>) {
  try {
    return readTracingSettings(value, "tracing.");
  } catch (error) {
    throw new Error(`tracing is not valid: ${(error as Error).message}.`, { cause: error });
  }
}

/** Either shutdownGracePeriod with its part for critical Pods, or one grace period for each priority. */
function shutdownIn(document: Document): readonly ShutdownPeriod[] {
  const seconds = (name: string) => Number(parseDuration(String(document[name] ?? "0s"))) / 1e9;
  const byPriority = (document.shutdownGracePeriodByPodPriority ?? []) as readonly Record<string, number>[];
  if (byPriority.length === 0)
    return shutdownPeriods(seconds("shutdownGracePeriod"), seconds("shutdownGracePeriodCriticalPods"));
  return byPriority.map(({ priority = 0, shutdownGracePeriodSeconds = 0 }) => ({
    priority,
    seconds: shutdownGracePeriodSeconds,
  }));
}
