/** The configuration of a kubelet: from flags and from a KubeletConfiguration file. */
import type { SecureVersion } from "node:tls";
import type { core } from "#api";
import type { TracingSettings } from "#tracing";
import type { ShutdownPeriod } from "../eviction/index.ts";
import type { Verification } from "../images/index.ts";
import type { Amounts } from "../node/index.ts";

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
}

export const EVICTION_HARD: KubeletConfig["evictionHard"] = {
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%",
  "imagefs.available": "15%",
  "imagefs.inodesFree": "5%",
};

export const KUBELET_DEFAULTS = {
  rootDir: "/var/lib/kubelet",
  systemLogRoot: "/var/log",
  systemLogs: true,
  cgroupRoot: "/",
  clusterDns: [],
  clusterDomain: "cluster.local",
  resolvConf: "/etc/resolv.conf",
  maxPods: 110,
  nodeLabels: {},
  taints: [],
  kubeReserved: {},
  systemReserved: {},
  evictionHard: EVICTION_HARD,
  allowedUnsafeSysctls: [],
  seccompDefault: false,
  podPidsLimit: -1,
  featureGates: {},
  port: 10250,
  containerLogMaxBytes: 10 * 1024 * 1024,
  containerLogMaxFiles: 5,
  imageGcHighPercent: 85,
  imageGcLowPercent: 80,
  serializeImagePulls: true,
  registryPullQps: 5,
  registryBurst: 10,
  imageVerification: { policy: "NeverVerifyPreloadedImages", allowlist: [] },
  serverTlsBootstrap: false,
  shutdownPeriods: [],
} satisfies Omit<KubeletConfig, "nodeName" | "nodeIps" | "podLogsRoot">;
