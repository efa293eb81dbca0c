/** The configuration of a kubelet: from flags and from a KubeletConfiguration file. */
import type { SecureVersion } from "node:tls";
import type { core } from "#api";
import type { TracingSettings } from "#tracing";
import type { ShutdownPeriod } from "../eviction/index.ts";
import type { Verification } from "../images/index.ts";
import type { Amounts } from "../node/index.ts";
import type { MemoryReservation, TopologyPolicy, TopologyScope } from "../topology/index.ts";
import { type Document, withDefaults } from "./document.ts";
import { settingsOf } from "./settings.ts";

export interface EvictionSettings {
  /** Thresholds by signal. */
  readonly soft: Readonly<Record<string, string>>;
  /** How long a soft threshold may be crossed, by signal. */
  readonly softGraceMs: Readonly<Record<string, number>>;
  /** How much more than the threshold is reclaimed, by signal. */
  readonly minimumReclaim: Readonly<Record<string, string>>;
  /** The longest grace period of Pods that a soft threshold ends. */
  readonly maxPodGraceSeconds: number;
  /** How long a pressure is reported after it has passed. */
  readonly transitionMs: number;
}

export interface CgroupSettings {
  readonly driver: "cgroupfs" | "systemd";
  /** A level for each QoS class. Without it Pods are directly below the root. */
  readonly perQos: boolean;
  /** pods, system-reserved, kube-reserved, … */
  readonly enforce: readonly string[];
  readonly systemReserved: string;
  readonly kubeReserved: string;
  /** Limits of CPU are enforced. */
  readonly cpuQuota: boolean;
  readonly cpuPeriodUs: number;
  /** Undefined: as the version of cgroups has it. */
  readonly singleProcessOomKill: boolean | undefined;
  readonly memoryThrottlingFactor: number;
  readonly memoryReservation: "None" | "TieredReservation";
  readonly failV1: boolean;
}

export interface SwapSettings {
  readonly failOn: boolean;
  readonly behavior: "NoSwap" | "LimitedSwap";
}

export interface TopologySettings {
  readonly cpuPolicy: "none" | "static";
  readonly cpuOptions: Readonly<Record<string, string>>;
  readonly reconcileMs: number;
  /** As cgroups list CPUs; empty: as many as are reserved by amount. */
  readonly reservedCpus: string;
  readonly memoryPolicy: "None" | "Static";
  readonly reservedMemory: readonly MemoryReservation[];
  readonly policy: TopologyPolicy;
  readonly scope: TopologyScope;
  readonly options: Readonly<Record<string, string>>;
}

export interface NodeStatusSettings {
  readonly updateMs: number;
  /** It is written this often even if nothing has changed. */
  readonly reportMs: number;
  readonly leaseSeconds: number;
  /** The most images in the status; -1: all. */
  readonly maxImages: number;
}

export interface ExternalCloud {
  /** Those of `--node-ip`, which the cloud's addresses have to agree with. */
  readonly providedIps: readonly string[];
}

export interface KubeletConfig {
  /** TLS of the kubelet's server, as OpenSSL has it. Default: TLS 1.2, strong suites. */
  readonly serverTls?:
    | { readonly minVersion?: SecureVersion | undefined; readonly ciphers?: string | undefined }
    | undefined;
  readonly nodeName: string;
  /** The first is the primary one. */
  readonly nodeIps: readonly string[];
  readonly rootDir: string;
  readonly podLogsRoot: string;
  /** The directory of the node's logs. */
  readonly systemLogRoot: string;
  /** Whether the kubelet's server shows the node's logs. */
  readonly systemLogs: boolean;
  readonly cgroupRoot: string;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Empty: Pods inherit nothing from the node's resolv.conf. */
  readonly resolvConf: string;
  readonly maxPods: number;
  readonly staticPodPath?: string;
  readonly staticPodUrl?: string;
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly taints: readonly core.Taint[];
  readonly providerId?: string;
  /** A cloud controller manager initializes the Node. Absent: the Node is what its kubelet says. */
  readonly externalCloud?: ExternalCloud;
  readonly kubeReserved: Amounts;
  readonly systemReserved: Amounts;
  readonly evictionHard: Readonly<Record<string, string>>;
  readonly allowedUnsafeSysctls: readonly string[];
  /** Containers that name no seccomp profile get the runtime's, instead of none. */
  readonly seccompDefault: boolean;
  /** The most processes of a Pod. Not above 0: no limit. */
  readonly podPidsLimit: number;
  /** Feature gates that are set, by name. */
  readonly featureGates: Readonly<Record<string, boolean>>;
  /** The port of the kubelet's server. */
  readonly port: number;
  readonly containerLogMaxBytes: number;
  readonly containerLogMaxFiles: number;
  readonly imageGcHighPercent: number;
  readonly imageGcLowPercent: number;
  /** One pull after another. */
  readonly serializeImagePulls: boolean;
  /** Absent: any number, unless they are serialized. */
  readonly maxParallelImagePulls?: number;
  /** Pulls that begin in a second. 0: any number. */
  readonly registryPullQps: number;
  readonly registryBurst: number;
  /** Which images that are on the node a Pod may use only with credentials of its own. */
  readonly imageVerification: Verification;
  /** A CredentialProviderConfig: a file, or a folder of files. */
  readonly credentialProviderConfig?: string;
  /** The folder of the providers' programs. */
  readonly credentialProviderBinDir?: string;
  /** Whether the cluster issues the serving certificate. */
  readonly serverTlsBootstrap: boolean;
  /** Grace periods at a shutdown of the machine, by Pod priority. Empty: no graceful node shutdown. */
  readonly shutdownPeriods: readonly ShutdownPeriod[];
  /** OpenTelemetry traces. Absent: none. */
  readonly tracing?: TracingSettings;
  /** Whether the kubelet has a server. */
  readonly enableServer: boolean;
  /** Exec, attach, port-forward, logs and what else shows or changes containers. */
  readonly debuggingHandlers: boolean;
  /** Undefined: what starts the kubelet decides. */
  readonly oomScoreAdj?: number;
  /** The most Pods for each CPU; 0: no such limit. */
  readonly podsPerCore: number;
  readonly containerLogWorkers: number;
  readonly containerLogIntervalMs: number;
  /** Queries of the node's logs. */
  readonly systemLogQuery: boolean;
  /** Storage of Pods on the node's disk is a resource, with limits. */
  readonly localStorageIsolation: boolean;
  /** The longest delay before a container is restarted. Undefined: as the feature gates say. */
  readonly longestRestartDelayMs?: number;
  /** The kernel must be set as Kubernetes expects it. */
  readonly protectKernelDefaults: boolean;
  /** Users and groups of a Pod with a user namespace. */
  readonly idsPerPod: number;
  readonly eviction: EvictionSettings;
  readonly cgroups: CgroupSettings;
  readonly swap: SwapSettings;
  readonly topology: TopologySettings;
  readonly nodeStatus: NodeStatusSettings;
  /** The effective KubeletConfiguration, with all defaults: what /configz shows. */
  readonly document: Document;
}

export { EVICTION_HARD } from "./fields.ts";

/** Of a kubelet without a configuration file. It runs on machines with swap, too: only `k8ts kubelet` minds. */
const initial = withDefaults({ failSwapOn: false });

export const KUBELET_DEFAULTS = {
  rootDir: "/var/lib/kubelet",
  systemLogRoot: "/var/log",
  ...settingsOf(initial),
  clusterDomain: "cluster.local",
  cgroupRoot: "/",
  nodeLabels: {},
  document: initial,
} satisfies Omit<KubeletConfig, "nodeName" | "nodeIps" | "podLogsRoot">;
