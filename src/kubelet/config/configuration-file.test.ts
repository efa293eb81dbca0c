import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kubeletConfiguration, parseKubeletConfiguration } from "./configuration-file.ts";
import { FIELDS } from "./fields.ts";
import { configurationProblems } from "./validation.ts";

const head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
const ON = { enabled: () => true };

/** Facts: the fields of KubeletConfiguration in k8s.io/kubelet/config/v1beta1 of v1.36, which no Debian package has. */
const UPSTREAM = `enableServer staticPodPath podLogsDir syncFrequency fileCheckFrequency httpCheckFrequency staticPodURL
staticPodURLHeader address port readOnlyPort tlsCertFile tlsPrivateKeyFile tlsCipherSuites tlsCurvePreferences tlsMinVersion
rotateCertificates serverTLSBootstrap authentication authorization registryPullQPS registryBurst
imagePullCredentialsVerificationPolicy preloadedImagesVerificationAllowlist eventRecordQPS eventBurst enableDebuggingHandlers
enableContentionProfiling healthzPort healthzBindAddress oomScoreAdj clusterDomain clusterDNS streamingConnectionIdleTimeout
nodeStatusUpdateFrequency nodeStatusReportFrequency nodeLeaseDurationSeconds imageMinimumGCAge imageMaximumGCAge
imageGCHighThresholdPercent imageGCLowThresholdPercent volumeStatsAggPeriod kubeletCgroups systemCgroups cgroupRoot
cgroupsPerQOS cgroupDriver cpuManagerPolicy singleProcessOOMKill cpuManagerPolicyOptions cpuManagerReconcilePeriod
memoryManagerPolicy topologyManagerPolicy topologyManagerScope topologyManagerPolicyOptions qosReserved runtimeRequestTimeout
hairpinMode maxPods podCIDR podPidsLimit resolvConf runOnce cpuCFSQuota cpuCFSQuotaPeriod nodeStatusMaxImages maxOpenFiles
contentType kubeAPIQPS kubeAPIBurst serializeImagePulls maxParallelImagePulls evictionHard evictionSoft
evictionSoftGracePeriod evictionPressureTransitionPeriod evictionMaxPodGracePeriod evictionMinimumReclaim
mergeDefaultEvictionSettings podsPerCore enableControllerAttachDetach protectKernelDefaults makeIPTablesUtilChains
iptablesMasqueradeBit iptablesDropBit featureGates failSwapOn memorySwap containerLogMaxSize containerLogMaxFiles
containerLogMaxWorkers containerLogMonitorInterval configMapAndSecretChangeDetectionStrategy systemReserved kubeReserved
reservedSystemCPUs showHiddenMetricsForVersion systemReservedCgroup kubeReservedCgroup enforceNodeAllocatable
allowedUnsafeSysctls volumePluginDir providerID kernelMemcgNotification logging enableSystemLogHandler enableSystemLogQuery
shutdownGracePeriod shutdownGracePeriodCriticalPods shutdownGracePeriodByPodPriority crashLoopBackOff reservedMemory
enableProfilingHandler enableDebugFlagsHandler seccompDefault memoryThrottlingFactor memoryReservationPolicy
registerWithTaints registerNode tracing localStorageCapacityIsolation containerRuntimeEndpoint imageServiceEndpoint
failCgroupV1 userNamespaces`.split(/\s+/);

describe("KubeletConfiguration", () => {
  it("knows every field, and says what becomes of it", () => {
    expect(Object.keys(FIELDS)).toEqual(UPSTREAM);
    for (const [name, { outcome, reason = "" }] of Object.entries(FIELDS))
      expect([name, outcome === "acts" || reason.length > 10]).toEqual([name, true]);
  });

  it("without anything has upstream's defaults, which are valid", () => {
    const { document, ignored } = parseKubeletConfiguration(head);
    expect(configurationProblems(document, ON)).toEqual([]);
    expect(ignored).toEqual([]);
    expect(document).toMatchObject({
      cpuManagerReconcilePeriod: "10s",
      enforceNodeAllocatable: ["pods"],
      evictionPressureTransitionPeriod: "5m0s",
      memoryThrottlingFactor: 0.9,
      authentication: { webhook: { enabled: true, cacheTTL: "2m0s" } },
    });
  });

  it("is read; what means nothing here is named with the reason", () => {
    const { settings, document, ignored } = parseKubeletConfiguration(
      `${head}clusterDNS: [10.96.0.10]\nmaxPods: 50\ncontainerLogMaxSize: 20Mi\nkubeReserved: {cpu: 100m}\nstaticPodPath: /m\nfeatureGates: {MemoryQoS: true}\ncontainerRuntimeEndpoint: unix:///c.sock\nhealthzPort: 1\nsyncFrequency: 1m\nseccompDefault: true\npodPidsLimit: 4096\nregisterWithTaints: [{key: a, effect: NoSchedule}]\ncpuManagerPolicy: static\nother: 1\nevictionSoft: {memory.available: 1Gi}\nevictionSoftGracePeriod: {memory.available: 90s}\n`,
    );
    expect(settings).toMatchObject({
      clusterDns: ["10.96.0.10"],
      maxPods: 50,
      containerLogMaxBytes: 20 * 1024 ** 2,
      kubeReserved: { cpu: "100m" },
      staticPodPath: "/m",
      featureGates: { MemoryQoS: true },
      taints: [{ key: "a", effect: "NoSchedule" }],
      seccompDefault: true,
      podPidsLimit: 4096,
      topology: { cpuPolicy: "static" },
      eviction: { soft: { "memory.available": "1Gi" }, softGraceMs: { "memory.available": 90_000 } },
    });
    expect(document).toMatchObject({ containerRuntimeEndpoint: "unix:///c.sock", maxPods: 50, port: 10250 });
    expect(ignored).toEqual(["healthzPort (/healthz is served on the secure port)", 'other (unknown field "other")']);
  });

  it("what follows from other fields", () => {
    const documentOf = (text: string) => parseKubeletConfiguration(head + text).document;
    expect(documentOf("nodeStatusUpdateFrequency: 20s").nodeStatusReportFrequency).toBe("20s");
    expect(documentOf("evictionHard: {memory.available: 1Gi}").evictionHard).toEqual({ "memory.available": "1Gi" });
    expect(
      documentOf("evictionHard: {memory.available: 1Gi}\nmergeDefaultEvictionSettings: true").evictionHard,
    ).toEqual({
      "memory.available": "1Gi",
      "nodefs.available": "10%",
      "nodefs.inodesFree": "5%",
      "imagefs.available": "15%",
      "imagefs.inodesFree": "5%",
    });
    expect(documentOf("evictionPressureTransitionPeriod: 0s").evictionPressureTransitionPeriod).toBe("5m0s");
  });

  it("is merged with drop-ins in the order of their paths: maps together, lists not", async () => {
    const dir = mkdtempSync(join(tmpdir(), "k8ts-drop-ins-"));
    try {
      const write = (name: string, text: string) => writeFileSync(join(dir, name), head + text);
      mkdirSync(join(dir, "d", "sub"), { recursive: true });
      write("config", "maxPods: 10\nsystemReserved: {cpu: 1, memory: 1Gi}\nclusterDNS: [a, b]\n");
      write("d/20.conf", "maxPods: 30\nclusterDNS: [c]\n");
      write("d/10.conf", "maxPods: 20\nsystemReserved: {cpu: 2}\n");
      write("d/sub/30.conf", "podsPerCore: 4\n");
      write("d/note.yaml", "maxPods: 99\n");
      const sources = { file: join(dir, "config"), dropIns: join(dir, "d") };
      const { document } = await kubeletConfiguration({ ...sources, flags: { podPidsLimit: 7 } });
      expect(document).toMatchObject({
        maxPods: 30,
        systemReserved: { cpu: "2", memory: "1Gi" },
        clusterDNS: ["c"],
        podsPerCore: 4,
        podPidsLimit: 7,
      });
      writeFileSync(join(dir, "d", "40.conf"), "kind: Other\n");
      await expect(kubeletConfiguration(sources)).rejects.toThrow(
        /failed to load kubelet config file, path: .*40.conf/,
      );
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it("has where traces are sent", () => {
    const tracing = "tracing: {endpoint: otel:4317, samplingRatePerMillion: 5}\n";
    expect(parseKubeletConfiguration(head + tracing)).toMatchObject({
      settings: { tracing: { endpoint: "otel:4317", samplingRatePerMillion: 5 } },
      ignored: [],
    });
    expect(() => parseKubeletConfiguration(`${head}tracing: {samplingRatePerMillion: 2000000}`)).toThrow(
      "tracing is not valid: tracing.samplingRatePerMillion: Invalid value: 2000000: sampling rate per million must be less than or equal to one million.",
    );
  });

  it.each([
    ["shutdownGracePeriod: 0s", []],
    [
      "shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s",
      [
        { priority: 0, seconds: 20 },
        { priority: 2_000_000_000, seconds: 10 },
      ],
    ],
    [
      "shutdownGracePeriodByPodPriority: [{priority: 100, shutdownGracePeriodSeconds: 7}]",
      [{ priority: 100, seconds: 7 }],
    ],
  ])("%j says how long pods have when the machine goes down", (text, periods) =>
    expect(parseKubeletConfiguration(`${head}${text}`).settings.shutdownPeriods).toEqual(periods),
  );

  it.each([
    [`${head}shutdownGracePeriod: soon`, "soon is not a duration"],
    ["kind: Other", "it must be of the kind KubeletConfiguration"],
    ["", "it is not a KubeletConfiguration"],
    [`${head}maxPods: many`, "maxPods must be a number"],
    [`${head}seccompDefault: maybe`, "seccompDefault must be true or false"],
    [`${head}clusterDNS: 10.96.0.10`, "clusterDNS must be a list of strings"],
    [`${head}runOnce: true`, "runOnce must be left at its default in this kubelet: Runonce mode has been deprecated"],
    [`${head}readOnlyPort: 10255`, "readOnlyPort must be left at its default in this kubelet: every request"],
    [`${head}authentication: {anonymous: {enabled: true}}`, "authentication must be left at its default"],
    [`${head}authorization: {mode: AlwaysAllow}`, "authorization must be left at its default"],
  ])("%j is refused: %s", (text, problem) => expect(() => parseKubeletConfiguration(text)).toThrow(problem));

  it("what is said that is so anyway is taken", () => {
    const text =
      "authentication: {anonymous: {enabled: false}, webhook: {enabled: true, cacheTTL: 2m}}\nreadOnlyPort: 0\n";
    expect(parseKubeletConfiguration(head + text).ignored).toEqual([]);
  });
});

describe("a KubeletConfiguration that is not valid", () => {
  it.each<[text: string, problem: string, off?: string]>([
    ["nodeLeaseDurationSeconds: -1", "nodeLeaseDurationSeconds must be greater than 0"],
    [
      "imageGCLowThresholdPercent: 90",
      "imageGCLowThresholdPercent (--image-gc-low-threshold) 90 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 85",
    ],
    [
      "imageGCHighThresholdPercent: 101",
      "imageGCHighThresholdPercent (--image-gc-high-threshold) 101 must be between 0 and 100, inclusive",
    ],
    ["maxPods: -1", "maxPods (--max-pods) -1 must not be a negative number"],
    ["port: 70000", "port (--port) 70000 must be between 1 and 65535, inclusive"],
    ["oomScoreAdj: 1001", "oomScoreAdj (--oom-score-adj) 1001 must be between -1000 and 1000, inclusive"],
    [
      "cpuCFSQuotaPeriod: 2s",
      "cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {2s} must be between 1ms and 1sec, inclusive",
    ],
    [
      "topologyManagerPolicy: x",
      'topologyManagerPolicy (--topology-manager-policy) "x" must be one of: ["none" "best-effort" "restricted" "single-numa-node"]',
    ],
    [
      "topologyManagerScope: x",
      'topologyManagerScope (--topology-manager-scope) "x" must be one of: "container", or "pod"',
    ],
    [
      "shutdownGracePeriod: 1s\nshutdownGracePeriodCriticalPods: 2s",
      "shutdownGracePeriodCriticalPods {2s} must be <= shutdownGracePeriod {1s}",
    ],
    ["shutdownGracePeriod: 10ms", "shutdownGracePeriod {10ms} must be either zero or otherwise >= 1 sec"],
    [
      "shutdownGracePeriod: 5s",
      "specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown",
      "GracefulNodeShutdown",
    ],
    [
      "shutdownGracePeriod: 1s\nshutdownGracePeriodByPodPriority: [{priority: 1}]",
      "Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time",
    ],
    [
      "crashLoopBackOff: {maxContainerRestartPeriod: 400s}",
      "CrashLoopBackOff.MaxContainerRestartPeriod (got: 400 seconds) must be set between 1s and 300s",
    ],
    [
      "enforceNodeAllocatable: [system-reserved]",
      'systemReservedCgroup (--system-reserved-cgroup) must be specified when "system-reserved" or "system-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    [
      "enforceNodeAllocatable: [none, pods]",
      'enforceNodeAllocatable (--enforce-node-allocatable) may not contain additional enforcements when "none" is specified',
    ],
    [
      "enforceNodeAllocatable: [pods, pods]",
      'duplicated enforcements "pods" in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    [
      "enforceNodeAllocatable: [all]",
      'option "all" specified for enforceNodeAllocatable (--enforce-node-allocatable). Valid options are "pods", "system-reserved", "system-reserved-compressible", "kube-reserved", "kube-reserved-compressible" or "none"',
    ],
    [
      "cgroupsPerQOS: false",
      'cgroupsPerQOS (--cgroups-per-qos) must be set to true when "pods" contained in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    [
      "reservedSystemCPUs: a",
      'unable to parse reservedSystemCPUs (--reserved-cpus) a, error: strconv.Atoi: parsing "a": invalid syntax',
    ],
    [
      "reservedSystemCPUs: 0-1\nkubeReservedCgroup: /k",
      "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
    ],
    [
      "memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 0, limits: {cpu: 1}}]",
      'the limit type "cpu" for NUMA node 0 is invalid, only memory and huge pages are allowed',
    ],
    [
      "memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 0, limits: {memory: 0}}]",
      'reserved memory may not be zero for NUMA node 0 and resource "memory"',
    ],
    ["memorySwap: {swapBehavior: All}", 'memorySwap.swapBehavior "All" must be one of: "", "LimitedSwap" or "NoSwap"'],
    ["memoryThrottlingFactor: 1.5", "memoryThrottlingFactor 1.5 must be greater than 0 and less than or equal to 1.0"],
    [
      "memoryReservationPolicy: TieredReservation",
      'memoryReservationPolicy "TieredReservation" requires MemoryQoS feature gate to be enabled',
      "MemoryQoS",
    ],
    [
      "enableSystemLogQuery: true\nenableSystemLogHandler: false",
      "enableSystemLogHandler is required for enableSystemLogQuery",
    ],
    ["containerLogMaxWorkers: 0", "containerLogMaxWorkers must be greater than or equal to 1"],
    [
      "containerLogMonitorInterval: 1s",
      "containerLogMonitorInterval must be a positive time duration greater than or equal to 3s",
    ],
    ["containerLogMaxFiles: 1", "containerLogMaxFiles must be greater than 1"],
    ["podLogsDir: logs", 'pod logs path "logs" must be absolute path'],
    ["podLogsDir: /a/../b", 'pod logs path "/a/../b" must be normalized'],
    ["userNamespaces: {idsPerPod: 1000}", "userNamespaces.idsPerPod 1000 must be a multiple of 65536"],
  ])("%j", (text, problem, off) => {
    const { document } = parseKubeletConfiguration(head + text);
    const problems = configurationProblems(document, { enabled: (gate) => gate !== off });
    expect(problems.join()).toContain(`invalid configuration: ${problem}`);
    expect(problems).toHaveLength(1);
  });
});

describe("fields of images", () => {
  it("are read", () => {
    const text =
      "serializeImagePulls: false\nmaxParallelImagePulls: 3\nregistryPullQPS: 0\nregistryBurst: 20\nimagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: [a.example/b, a.example/c/*]\n";
    expect(parseKubeletConfiguration(head + text)).toMatchObject({
      settings: {
        serializeImagePulls: false,
        maxParallelImagePulls: 3,
        registryPullQps: 0,
        registryBurst: 20,
        imageVerification: { policy: "NeverVerifyAllowlistedImages", allowlist: ["a.example/b", "a.example/c/*"] },
      },
      ignored: [],
    });
  });

  it.each([
    [
      "maxParallelImagePulls: 2",
      "cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is false",
    ],
    ["maxParallelImagePulls: 0", "maxParallelImagePulls 0 must be a positive number"],
    [
      "imagePullCredentialsVerificationPolicy: Never",
      'option "Never" specified for imagePullCredentialsVerificationPolicy',
    ],
    ["preloadedImagesVerificationAllowlist: [a]", "can't set preloadedImagesVerificationAllowlist"],
    [
      "imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: [a:1]",
      "must be a list of repositories without tag and digest",
    ],
  ])("%j is refused: %s", (text, problem) => {
    const problems = configurationProblems(parseKubeletConfiguration(head + text).document, ON);
    expect(problems.join()).toContain(problem);
    expect(problems).toHaveLength(1);
  });
});
