/**
 * Every field of a KubeletConfiguration (kubelet.config.k8s.io/v1beta1, v1.36): its type, its default, and what becomes
 * of it here.
 *
 * 1. `acts`: it does what it says. `fixed`: any other value than the default is refused, with the reason: ignoring it
 *    would mislead. `idle`: another value is named at the start, with the reason, and changes nothing.
 * 2. Defaults are upstream's, except for failCgroupV1: nodes run on both versions of cgroups.
 */
import { table } from "#base";

export type FieldType =
  | "string"
  | "number"
  | "boolean"
  | "duration"
  | "quantity"
  | "strings"
  | "numbers"
  | "map"
  | "gates"
  | "object"
  | "objects";

export type Value = string | number | boolean | readonly unknown[] | Readonly<Record<string, unknown>>;

export interface Field {
  readonly type: FieldType;
  /** Undefined: absent. */
  readonly initial?: Value | undefined;
  readonly outcome: "acts" | "fixed" | "idle";
  readonly reason?: string | undefined;
}

const acts = (type: FieldType, initial?: Value): Field => ({ type, initial, outcome: "acts" });
const fixed = (type: FieldType, initial: Value | undefined, reason: string): Field => ({
  type,
  initial,
  outcome: "fixed",
  reason,
});
const idle = (type: FieldType, initial: Value | undefined, reason: string): Field => ({
  type,
  initial,
  outcome: "idle",
  reason,
});

const ACCESS =
  "every request to this kubelet is authenticated by certificate or token, and authorized by the API server";
const SHARED = "requests are not limited here: the API server's priority and fairness shares its time";
const PROFILES = "profiles are taken with the tools of Node, such as --cpu-prof";
const RULES = "the network of this node needs no such rules of its kubelet";
const GONE = "upstream has no use for it any more";
const FLAGS = "the flags of the same purpose decide: --logging-format, --v, --show-hidden-metrics-for-version";

export const EVICTION_HARD: Readonly<Record<string, string>> = table({
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%",
  "imagefs.available": "15%",
  "imagefs.inodesFree": "5%",
});

const AUTHENTICATION = { x509: {}, webhook: { enabled: true, cacheTTL: "2m0s" }, anonymous: { enabled: false } };
const AUTHORIZATION = { mode: "Webhook", webhook: { cacheAuthorizedTTL: "5m0s", cacheUnauthorizedTTL: "30s" } };

export const FIELDS: Readonly<Record<string, Field>> = table({
  enableServer: acts("boolean", true),
  staticPodPath: acts("string", ""),
  podLogsDir: acts("string", "/var/log/pods"),
  syncFrequency: idle("duration", "1m0s", "a Pod is synced at each change, and once a minute"),
  fileCheckFrequency: idle("duration", "20s", "manifests are watched, and read again every 20 s"),
  httpCheckFrequency: idle("duration", "20s", "the manifests' URL is read every 20 s"),
  staticPodURL: acts("string", ""),
  staticPodURLHeader: fixed("object", undefined, "manifests are fetched without headers of your own"),
  address: idle("string", "0.0.0.0", "the server listens on all addresses of the node"),
  port: acts("number", 10250),
  readOnlyPort: fixed("number", 0, ACCESS),
  tlsCertFile: fixed("string", "", "the certificate is in --cert-dir, or comes from the cluster (serverTLSBootstrap)"),
  tlsPrivateKeyFile: fixed("string", "", "the key is in --cert-dir, or belongs to the cluster's certificate"),
  tlsCipherSuites: acts("strings"),
  tlsCurvePreferences: fixed("numbers", undefined, "the curves are those that OpenSSL prefers"),
  tlsMinVersion: acts("string", ""),
  rotateCertificates: idle("boolean", false, "with --bootstrap-kubeconfig the client certificate is always renewed"),
  serverTLSBootstrap: acts("boolean", false),
  authentication: fixed("object", AUTHENTICATION, ACCESS),
  authorization: fixed("object", AUTHORIZATION, ACCESS),
  registryPullQPS: acts("number", 5),
  registryBurst: acts("number", 10),
  imagePullCredentialsVerificationPolicy: acts("string", "NeverVerifyPreloadedImages"),
  preloadedImagesVerificationAllowlist: acts("strings"),
  eventRecordQPS: idle("number", 50, SHARED),
  eventBurst: idle("number", 100, SHARED),
  enableDebuggingHandlers: acts("boolean", true),
  enableContentionProfiling: idle("boolean", false, PROFILES),
  healthzPort: idle("number", 10248, "/healthz is served on the secure port"),
  healthzBindAddress: idle("string", "127.0.0.1", "/healthz is served on the secure port"),
  oomScoreAdj: acts("number", -999),
  clusterDomain: acts("string", ""),
  clusterDNS: acts("strings", []),
  streamingConnectionIdleTimeout: idle("duration", "4h0m0s", GONE),
  nodeStatusUpdateFrequency: acts("duration", "10s"),
  nodeStatusReportFrequency: acts("duration", "5m0s"),
  nodeLeaseDurationSeconds: acts("number", 40),
  imageMinimumGCAge: idle(
    "duration",
    "2m0s",
    "an image is kept while it is used, and for 2 minutes after it was pulled",
  ),
  imageMaximumGCAge: idle("duration", "0s", "images go when the disk is full, the oldest first"),
  imageGCHighThresholdPercent: acts("number", 85),
  imageGCLowThresholdPercent: acts("number", 80),
  volumeStatsAggPeriod: idle("duration", "1m0s", "volumes are measured once a minute"),
  kubeletCgroups: fixed("string", "", "what starts the kubelet puts it into its cgroup"),
  systemCgroups: fixed("string", "", "what starts the system's processes puts them into their cgroups"),
  cgroupRoot: acts("string", ""),
  cgroupsPerQOS: acts("boolean", true),
  cgroupDriver: acts("string", "cgroupfs"),
  cpuManagerPolicy: acts("string", "none"),
  singleProcessOOMKill: acts("boolean"),
  cpuManagerPolicyOptions: acts("map"),
  cpuManagerReconcilePeriod: acts("duration", "10s"),
  memoryManagerPolicy: acts("string", "None"),
  topologyManagerPolicy: acts("string", "none"),
  topologyManagerScope: acts("string", "container"),
  topologyManagerPolicyOptions: acts("map"),
  qosReserved: fixed("map", undefined, "the feature gate QOSReserved is not there yet"),
  runtimeRequestTimeout: idle("duration", "2m0s", "each kind of request to the runtime has its own deadline"),
  hairpinMode: idle(
    "string",
    "promiscuous-bridge",
    "the network of this node lets a Pod reach itself through its Service",
  ),
  maxPods: acts("number", 110),
  podCIDR: fixed("string", "", "the cluster gives the node its addresses"),
  podPidsLimit: acts("number", -1),
  resolvConf: acts("string", "/etc/resolv.conf"),
  runOnce: fixed("boolean", false, "Runonce mode has been deprecated and should not be set"),
  cpuCFSQuota: acts("boolean", true),
  cpuCFSQuotaPeriod: acts("duration", "100ms"),
  nodeStatusMaxImages: acts("number", 50),
  maxOpenFiles: idle("number", 1_000_000, "what starts the kubelet sets its limits, such as LimitNOFILE of systemd"),
  contentType: idle("string", "application/vnd.kubernetes.protobuf", "the kubelet speaks JSON with the API server"),
  kubeAPIQPS: idle("number", 50, SHARED),
  kubeAPIBurst: idle("number", 100, SHARED),
  serializeImagePulls: acts("boolean", true),
  maxParallelImagePulls: acts("number"),
  evictionHard: acts("map", EVICTION_HARD),
  evictionSoft: acts("map"),
  evictionSoftGracePeriod: acts("map"),
  evictionPressureTransitionPeriod: acts("duration", "5m0s"),
  evictionMaxPodGracePeriod: acts("number", 0),
  evictionMinimumReclaim: acts("map"),
  mergeDefaultEvictionSettings: acts("boolean", false),
  podsPerCore: acts("number", 0),
  enableControllerAttachDetach: fixed("boolean", true, "volumes are attached by the controller manager"),
  protectKernelDefaults: acts("boolean", false),
  makeIPTablesUtilChains: idle("boolean", true, RULES),
  iptablesMasqueradeBit: idle("number", 14, GONE),
  iptablesDropBit: idle("number", 15, GONE),
  featureGates: acts("gates"),
  failSwapOn: acts("boolean", true),
  memorySwap: acts("object", {}),
  containerLogMaxSize: acts("quantity", "10Mi"),
  containerLogMaxFiles: acts("number", 5),
  containerLogMaxWorkers: acts("number", 1),
  containerLogMonitorInterval: acts("duration", "10s"),
  configMapAndSecretChangeDetectionStrategy: idle("string", "Watch", "ConfigMaps and Secrets of Pods are watched"),
  systemReserved: acts("map"),
  kubeReserved: acts("map"),
  reservedSystemCPUs: acts("string", ""),
  showHiddenMetricsForVersion: fixed("string", "", FLAGS),
  systemReservedCgroup: acts("string", ""),
  kubeReservedCgroup: acts("string", ""),
  enforceNodeAllocatable: acts("strings", ["pods"]),
  allowedUnsafeSysctls: acts("strings", []),
  volumePluginDir: fixed(
    "string",
    "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/",
    "volumes of kinds of your own come from CSI drivers",
  ),
  providerID: acts("string", ""),
  kernelMemcgNotification: idle("boolean", false, "memory is checked every 10 s"),
  logging: idle("object", undefined, FLAGS),
  enableSystemLogHandler: acts("boolean", true),
  enableSystemLogQuery: acts("boolean", false),
  shutdownGracePeriod: acts("duration", "0s"),
  shutdownGracePeriodCriticalPods: acts("duration", "0s"),
  shutdownGracePeriodByPodPriority: acts("objects"),
  crashLoopBackOff: acts("object", {}),
  reservedMemory: acts("objects"),
  enableProfilingHandler: idle("boolean", true, PROFILES),
  enableDebugFlagsHandler: idle("boolean", true, "the level of the log is set at the start, with --v"),
  seccompDefault: acts("boolean", false),
  memoryThrottlingFactor: acts("number", 0.9),
  memoryReservationPolicy: acts("string", "None"),
  registerWithTaints: acts("objects", []),
  registerNode: fixed("boolean", true, "a kubelet of this cluster always registers its node"),
  tracing: acts("object"),
  localStorageCapacityIsolation: acts("boolean", true),
  containerRuntimeEndpoint: acts("string", "unix:///run/containerd/containerd.sock"),
  imageServiceEndpoint: fixed("string", "", "the runtime of containerRuntimeEndpoint has the images"),
  failCgroupV1: acts("boolean", false),
  userNamespaces: acts("object"),
});
