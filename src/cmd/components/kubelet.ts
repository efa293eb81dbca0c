/** `k8ts kubelet`: a node's kubelet in its own process, with upstream's flags. */
import { hostname } from "node:os";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Features } from "#api";
import { answerZPage, servedZPages, versionInfo } from "#apiserver";
import { ClusterError, featureNotes, readFeatures, tlsSettings } from "#cluster";
import type { KubeletConfig } from "#kubelet";
import { type FeatureOptions, featureGatesOption } from "../options/features.ts";
import { flagValues } from "../options/flag-values.ts";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { type MetricsFlagOptions, metricsFrom, metricsOptions } from "../options/metrics.ts";
import { type TlsFlagOptions, tlsFrom, tlsOptions } from "../options/tls.ts";
import { names, notesOnFlags, type OriginalFlags, originalFlags } from "../options/upstream-flags.ts";
import { boolean } from "../options/values.ts";
import { runUntilSignalled } from "../process/run-component.ts";

export interface KubeletFlagOptions extends LoggingFlagOptions, MetricsFlagOptions, FeatureOptions, TlsFlagOptions {
  readonly kubeconfig?: string;
  readonly bootstrapKubeconfig?: string;
  readonly hostnameOverride?: string;
  readonly nodeIp?: readonly string[];
  readonly containerRuntimeEndpoint?: string;
  readonly rootDir?: string;
  readonly certDir?: string;
  readonly podManifestPath?: string;
  readonly manifestUrl?: string;
  readonly clusterDns?: readonly string[];
  readonly clusterDomain?: string;
  readonly cgroupRoot?: string;
  readonly config?: string;
  readonly nodeLabels?: Readonly<Record<string, string>>;
  readonly maxPods?: string;
  readonly resolvConf?: string;
  readonly port?: string;
  readonly evictionHard?: Readonly<Record<string, string>>;
  readonly imageGcHighThreshold?: string;
  readonly imageGcLowThreshold?: string;
  readonly kubeReserved?: Readonly<Record<string, string>>;
  readonly systemReserved?: Readonly<Record<string, string>>;
  readonly registerWithTaints?: KubeletConfig["taints"];
  readonly rotateServerCertificates?: boolean;
  readonly seccompDefault?: boolean;
  readonly podMaxPids?: number;
}

const DEFAULT_ENDPOINT = "unix:///run/containerd/containerd.sock";

const ORIGINAL: OriginalFlags = {
  component: "this kubelet",
  withoutEffect: names(`
    address healthz-port healthz-bind-address read-only-port cgroup-driver cgroups-per-qos runtime-cgroups kubelet-cgroups system-cgroups
    fail-swap-on image-service-endpoint pod-infra-container-image register-node rotate-certificates
    anonymous-auth authentication-token-webhook authentication-token-webhook-cache-ttl authorization-mode client-ca-file
    authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
    enforce-node-allocatable event-burst event-qps kube-api-burst kube-api-qps kube-api-content-type serialize-image-pulls max-parallel-image-pulls
    node-status-update-frequency node-status-max-images sync-frequency file-check-frequency http-check-frequency housekeeping-interval
    protect-kernel-defaults make-iptables-util-chains hairpin-mode cpu-manager-policy memory-manager-policy topology-manager-policy
    volume-plugin-dir volume-stats-agg-period streaming-connection-idle-timeout minimum-image-ttl-duration
    runtime-request-timeout cpu-cfs-quota cpu-cfs-quota-period pods-per-core`),
  refused: names("cloud-provider cloud-config image-credential-provider-config image-credential-provider-bin-dir"),
};

/** The kubelet is loaded on demand, so that other commands start without it. */
export type LoadKubelet = () => Promise<typeof import("./host-kubelet.ts")>;

export function kubeletCommand(load: LoadKubelet): Command {
  const command = new Command("kubelet")
    .description("run a kubelet on this machine, with the flags of kubelet")
    .option("--kubeconfig <file>", "kubeconfig with the API server's address and the node's credentials")
    .option("--bootstrap-kubeconfig <file>", "kubeconfig for TLS bootstrapping, used if --kubeconfig does not exist")
    .option("--hostname-override <name>", "name of the Node; default: the hostname")
    .addOption(new Option("--node-ip <ips>", "IP address of the node, or one of each family").argParser(list))
    .option(
      "--container-runtime-endpoint <socket>",
      `CRI socket of the container runtime; default: ${DEFAULT_ENDPOINT}`,
    )
    .option("--root-dir <dir>", "directory for Pods' files and volumes; default: /var/lib/kubelet")
    .option("--cert-dir <dir>", "directory for the kubelet's certificates; default: pki in --root-dir")
    .option("--pod-manifest-path <dir>", "directory or file with static Pods")
    .option("--manifest-url <url>", "URL to fetch static Pods from")
    .addOption(new Option("--cluster-dns <ips>", "DNS servers of Pods").argParser(list))
    .option("--cluster-domain <domain>", "DNS domain of the cluster; default: cluster.local")
    .option("--cgroup-root <cgroup>", "parent cgroup of Pods")
    .option("--resolv-conf <file>", "resolv.conf for Pods with the node's DNS; default: /etc/resolv.conf")
    .option("--max-pods <count>", "maximum number of Pods; default: 110")
    .option("--port <port>", "port of the kubelet's server; default: 10250")
    .addOption(new Option("--node-labels <labels>", "labels for the Node, such as a=b,c=d").argParser(pairs("=")))
    .addOption(
      new Option("--eviction-hard <thresholds>", "eviction thresholds, such as memory.available<100Mi").argParser(
        pairs("<"),
      ),
    )
    .option("--image-gc-high-threshold <percent>", "disk usage at which image garbage collection starts")
    .option("--image-gc-low-threshold <percent>", "disk usage at which image garbage collection stops")
    .addOption(
      new Option(
        "--kube-reserved <amounts>",
        "resources reserved for Kubernetes components, such as cpu=100m",
      ).argParser(pairs("=")),
    )
    .addOption(
      new Option(
        "--system-reserved <amounts>",
        "resources reserved for the operating system, such as cpu=100m",
      ).argParser(pairs("=")),
    )
    .addOption(
      new Option("--register-with-taints <taints>", "taints for the Node, such as key=value:NoSchedule").argParser(
        taints,
      ),
    )
    .addOption(
      new Option(
        "--rotate-server-certificates [bool]",
        "request the serving certificate from the cluster, and renew it",
      )
        .preset("true")
        .argParser(boolean),
    )
    .addOption(
      new Option("--seccomp-default [bool]", "use the runtime's seccomp profile for containers that name none")
        .preset("true")
        .argParser(boolean),
    )
    .addOption(
      new Option("--pod-max-pids <count>", "maximum number of processes of a Pod; -1: no limit").argParser(pidsLimit),
    )
    .option("--config <file>", "KubeletConfiguration (kubelet.config.k8s.io/v1beta1); flags override it")
    .action(async (options: KubeletFlagOptions) => {
      const notes = [...notesOnFlags(command, ORIGINAL)];
      const { config, runtimeEndpoint, ignored } = await kubeletConfig(options, load);
      const unsafe = ignored.filter((name) => name === "tlsMinVersion" || name === "tlsCipherSuites");
      if (unsafe.length > 0)
        throw new ClusterError(
          `${options.config}: ${unsafe.join(", ")}: give --tls-min-version and --tls-cipher-suites as flags.`,
        );
      if (ignored.length > 0)
        notes.push(`${options.config}: these settings have no effect in this kubelet: ${ignored.join(", ")}`);
      const features = kubeletFeatures(options, config);
      notes.push(...featureNotes(features, {}, ["kubelet"]));
      const { kubeconfig, bootstrapKubeconfig } = options;
      if (kubeconfig === undefined)
        throw new ClusterError("--kubeconfig is required: it has the API server's address and the node's credentials.");
      const build = versionInfo(features);
      const certDir = options.certDir ?? `${config.rootDir}/pki`;
      const { runHostKubelet, SERVED_PATHS } = await load();
      const pages = {
        name: "kubelet",
        startedMs: performance.timeOrigin,
        flags: flagValues(command),
        paths: SERVED_PATHS,
        version: build,
        served: servedZPages(features),
      };
      // The signals that init receives on power failure or sends on shutdown.
      const shutdown = new AbortController();
      process.once("SIGPWR", () => shutdown.abort());
      await runUntilSignalled(
        notes,
        ({ clock, log }, signal) =>
          runHostKubelet(
            {
              config,
              kubeconfig,
              certDir,
              ...(bootstrapKubeconfig !== undefined && { bootstrapKubeconfig }),
              runtimeEndpoint,
              build,
              features,
              shutdown: shutdown.signal,
              metrics: metricsFrom(options),
              page: (path, accept) => answerZPage(path, accept, pages, clock.now()),
              clock,
              log,
            },
            signal,
          ),
        loggingFrom(options),
      );
    });
  for (const option of [
    featureGatesOption(),
    ...tlsOptions(),
    ...loggingOptions(),
    ...metricsOptions(),
    ...originalFlags(ORIGINAL),
  ])
    command.addOption(option);
  return command;
}

/** Gates of the flag override those of the file. */
export function kubeletFeatures({ featureGates = "" }: FeatureOptions, config: KubeletConfig): Features {
  const fromFile = Object.entries(config.featureGates).map(([name, value]) => `${name}=${value}`);
  const features = readFeatures({ gates: [...fromFile, featureGates].join() });
  if (config.shutdownPeriods.length > 0 && !features.enabled("GracefulNodeShutdown"))
    throw new ClusterError(
      "invalid configuration: specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown",
    );
  return features;
}

/** Flags override the file, the file overrides defaults. */
export async function kubeletConfig(
  options: KubeletFlagOptions,
  load: LoadKubelet,
): Promise<{
  readonly config: KubeletConfig;
  readonly runtimeEndpoint: string;
  readonly ignored: readonly string[];
}> {
  const { KUBELET_DEFAULTS, kubeletConfiguration } = await load();
  const { values, runtimeEndpoint, ignored } =
    options.config === undefined
      ? { values: {}, runtimeEndpoint: undefined, ignored: [] }
      : await kubeletConfiguration(options.config).catch((error: unknown) => {
          throw new ClusterError(`--config ${options.config}: ${(error as Error).message}`, { cause: error });
        });
  const { rootDir = KUBELET_DEFAULTS.rootDir, podManifestPath, manifestUrl } = options;
  const systemLogRoot = rootDir === KUBELET_DEFAULTS.rootDir ? KUBELET_DEFAULTS.systemLogRoot : `${rootDir}/log`;
  const serverTls = tlsFrom(options);
  const config: KubeletConfig = {
    ...KUBELET_DEFAULTS,
    systemLogRoot,
    podLogsRoot: `${systemLogRoot}/pods`,
    ...values,
    serverTls: serverTls === undefined ? undefined : tlsSettings(serverTls, false),
    nodeName: (options.hostnameOverride ?? hostname()).trim().toLowerCase(),
    nodeIps: options.nodeIp ?? (await mainAddress()),
    rootDir,
    ...(podManifestPath !== undefined && { staticPodPath: podManifestPath }),
    ...(manifestUrl !== undefined && { staticPodUrl: manifestUrl }),
    ...(options.clusterDns !== undefined && { clusterDns: options.clusterDns }),
    ...(options.clusterDomain !== undefined && { clusterDomain: options.clusterDomain.replace(/\.$/, "") }),
    ...(options.cgroupRoot !== undefined && { cgroupRoot: options.cgroupRoot }),
    ...(options.resolvConf !== undefined && { resolvConf: options.resolvConf }),
    ...(options.nodeLabels !== undefined && { nodeLabels: options.nodeLabels }),
    ...(options.maxPods !== undefined && { maxPods: whole("--max-pods", options.maxPods) }),
    ...(options.port !== undefined && { port: whole("--port", options.port) }),
    ...(options.evictionHard !== undefined && { evictionHard: options.evictionHard }),
    ...(options.kubeReserved !== undefined && { kubeReserved: options.kubeReserved }),
    ...(options.systemReserved !== undefined && { systemReserved: options.systemReserved }),
    ...(options.registerWithTaints !== undefined && { taints: options.registerWithTaints }),
    ...(options.rotateServerCertificates !== undefined && { serverTlsBootstrap: options.rotateServerCertificates }),
    ...(options.seccompDefault !== undefined && { seccompDefault: options.seccompDefault }),
    ...(options.podMaxPids !== undefined && { podPidsLimit: options.podMaxPids }),
    ...(options.imageGcHighThreshold !== undefined && {
      imageGcHighPercent: whole("--image-gc-high-threshold", options.imageGcHighThreshold),
    }),
    ...(options.imageGcLowThreshold !== undefined && {
      imageGcLowPercent: whole("--image-gc-low-threshold", options.imageGcLowThreshold),
    }),
  };
  return { config, runtimeEndpoint: options.containerRuntimeEndpoint ?? runtimeEndpoint ?? DEFAULT_ENDPOINT, ignored };
}

/** The first non-loopback address of this machine. */
async function mainAddress(): Promise<readonly string[]> {
  const { networkInterfaces } = await import("node:os");
  const found = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === "IPv4");
  if (found === undefined) throw new ClusterError("This machine has no non-loopback address: set --node-ip.");
  return [found.address];
}

function list(value: string): readonly string[] {
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

export function taints(value: string): KubeletConfig["taints"] {
  return list(value).map((text) => {
    const match = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(text);
    if (match === null) throw new InvalidArgumentError(`${text} is not a taint such as key=value:NoSchedule.`);
    const [, key = "", own = "", effect] = match;
    return { key, ...(own !== "" && { value: own }), effect: effect as KubeletConfig["taints"][number]["effect"] };
  });
}

function pidsLimit(value: string): number {
  if (!/^-?\d{1,15}$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(value);
}

function whole(flag: string, value: string): number {
  if (!/^\d+$/.test(value)) throw new ClusterError(`${flag} must be a whole number, not ${value}.`);
  return Number(value);
}
