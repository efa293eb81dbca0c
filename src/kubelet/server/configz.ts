/** GET /configz: the effective configuration as a KubeletConfiguration. */
import type { KubeletConfig } from "../config/index.ts";

export function configz(config: KubeletConfig): object {
  const kubeletconfig = {
    enableServer: true,
    staticPodPath: config.staticPodPath,
    staticPodURL: config.staticPodUrl,
    podLogsDir: config.podLogsRoot,
    port: config.port,
    authentication: { x509: {}, webhook: { enabled: true, cacheTTL: "2m0s" }, anonymous: { enabled: false } },
    authorization: {
      mode: "Webhook",
      webhook: { cacheAuthorizedTTL: "5m0s", cacheUnauthorizedTTL: "30s" },
    },
    clusterDomain: config.clusterDomain,
    clusterDNS: config.clusterDns,
    cgroupRoot: config.cgroupRoot,
    cgroupDriver: "cgroupfs",
    resolvConf: config.resolvConf,
    maxPods: config.maxPods,
    providerID: config.providerId,
    registerWithTaints: config.taints,
    kubeReserved: config.kubeReserved,
    systemReserved: config.systemReserved,
    evictionHard: config.evictionHard,
    allowedUnsafeSysctls: config.allowedUnsafeSysctls,
    seccompDefault: config.seccompDefault,
    podPidsLimit: config.podPidsLimit,
    containerLogMaxSize: String(config.containerLogMaxBytes),
    containerLogMaxFiles: config.containerLogMaxFiles,
    imageGCHighThresholdPercent: config.imageGcHighPercent,
    imageGCLowThresholdPercent: config.imageGcLowPercent,
    serializeImagePulls: config.serializeImagePulls,
    maxParallelImagePulls: config.maxParallelImagePulls,
    registryPullQPS: config.registryPullQps,
    registryBurst: config.registryBurst,
    imagePullCredentialsVerificationPolicy: config.imageVerification.policy,
    preloadedImagesVerificationAllowlist: config.imageVerification.allowlist,
    enableSystemLogHandler: config.systemLogs,
  };
  return { kubeletconfig };
}
