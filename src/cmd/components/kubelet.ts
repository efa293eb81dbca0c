/** `k8ts kubelet`: a node's kubelet in its own process, with upstream's flags. */
import { hostname } from "node:os";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Features } from "#api";
import { answerZPage, servedZPages, versionInfo } from "#apiserver";
import { ClusterError, featureNotes, readFeatures, tlsSettings } from "#cluster";
import type { KubeletDocument as Document, KubeletConfig } from "#kubelet";
import { type FeatureOptions, featureGatesOption } from "../options/features.ts";
import { flagValues } from "../options/flag-values.ts";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { type MetricsFlagOptions, metricsFrom, metricsOptions } from "../options/metrics.ts";
import { type TlsFlagOptions, tlsFrom, tlsOptions } from "../options/tls.ts";
import { names, notesOnFlags, type OriginalFlags, originalFlags } from "../options/upstream-flags.ts";
import { boolean } from "../options/values.ts";
import { runUntilSignalled } from "../process/run-component.ts";
import { addFieldFlags, fieldsOfFlags, list, pairs } from "./kubelet-flags.ts";

export interface KubeletFlagOptions extends LoggingFlagOptions, MetricsFlagOptions, FeatureOptions, TlsFlagOptions {
  readonly kubeconfig?: string;
  readonly bootstrapKubeconfig?: string;
  readonly hostnameOverride?: string;
  readonly nodeIp?: readonly string[];
  readonly cloudProvider?: "" | "external";
  readonly containerRuntimeEndpoint?: string;
  readonly rootDir?: string;
  readonly certDir?: string;
  readonly podManifestPath?: string;
  readonly manifestUrl?: string;
  readonly clusterDns?: readonly string[];
  readonly clusterDomain?: string;
  readonly cgroupRoot?: string;
  readonly config?: string;
  readonly configDir?: string;
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
  readonly serializeImagePulls?: boolean;
  readonly maxParallelImagePulls?: string;
  readonly registryQps?: string;
  readonly registryBurst?: string;
  readonly imageCredentialProviderConfig?: string;
  readonly imageCredentialProviderBinDir?: string;
}

const ORIGINAL: OriginalFlags = {
  component: "this kubelet",
  withoutEffect: names(`
    address healthz-port healthz-bind-address runtime-cgroups kubelet-cgroups system-cgroups
    image-service-endpoint pod-infra-container-image rotate-certificates
    anonymous-auth authentication-token-webhook authentication-token-webhook-cache-ttl authorization-mode client-ca-file
    authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
    event-burst event-qps kube-api-burst kube-api-qps kube-api-content-type
    sync-frequency file-check-frequency http-check-frequency housekeeping-interval
    make-iptables-util-chains hairpin-mode
    volume-plugin-dir volume-stats-agg-period streaming-connection-idle-timeout minimum-image-ttl-duration
    runtime-request-timeout`),
  refused: names("cloud-config"),
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
    .addOption(
      new Option(
        "--cloud-provider <name>",
        "external: a cloud controller manager initializes the Node and writes its addresses",
      ).choices(["", "external"]),
    )
    .option(
      "--container-runtime-endpoint <socket>",
      "CRI socket of the container runtime; default: unix:///run/containerd/containerd.sock",
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
    .addOption(
      new Option("--serialize-image-pulls [bool]", "pull one image after another; default: true")
        .preset("true")
        .argParser(boolean),
    )
    .option("--max-parallel-image-pulls <count>", "how many images are pulled at a time, if they are not serialized")
    .option("--registry-qps <count>", "how many pulls begin in a second; 0: any number; default: 5")
    .option("--registry-burst <count>", "how many pulls may begin at once; default: 10")
    .option("--image-credential-provider-config <path>", "CredentialProviderConfig: a file, or a folder of files")
    .option("--image-credential-provider-bin-dir <dir>", "folder of the programs of credential providers")
    .option("--config <file>", "KubeletConfiguration (kubelet.config.k8s.io/v1beta1); flags override it")
    .option("--config-dir <dir>", "drop-ins (*.conf) that are merged over --config")
    .action(async (options: KubeletFlagOptions) => {
      const notes = [...notesOnFlags(command, ORIGINAL)];
      const { config, runtimeEndpoint, ignored } = await kubeletConfig(options, load);
      if (ignored.length > 0)
        notes.push(
          `${options.config ?? options.configDir ?? "flags"}: these settings have no effect in this kubelet: ${ignored.join("; ")}`,
        );
      const features = kubeletFeatures(options, config);
      const problems = (await load()).configurationProblems(config.document, {
        enabled: (gate) => features.enabled(gate),
      });
      if (problems.length > 0) throw new ClusterError(`kubelet: ${problems.join(", ")}`);
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
  addFieldFlags(command);
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
  return readFeatures({ gates: [...fromFile, featureGates].join() });
}

/** Flags override the drop-ins, those the file, the file overrides defaults. */
export async function kubeletConfig(
  options: KubeletFlagOptions,
  load: LoadKubelet,
): Promise<{
  readonly config: KubeletConfig;
  readonly runtimeEndpoint: string;
  readonly ignored: readonly string[];
}> {
  const { KUBELET_DEFAULTS, kubeletConfiguration } = await load();
  const { rootDir = KUBELET_DEFAULTS.rootDir, config: file, configDir: dropIns } = options;
  const { settings, document, set, ignored } = await kubeletConfiguration({
    file,
    dropIns,
    flags: documentOf(options),
  }).catch((error: unknown) => {
    const where = file === undefined && dropIns === undefined ? "kubelet" : `--config ${file ?? dropIns}`;
    throw new ClusterError(`${where}: ${(error as Error).message}`, { cause: error });
  });
  const systemLogRoot = rootDir === KUBELET_DEFAULTS.rootDir ? KUBELET_DEFAULTS.systemLogRoot : `${rootDir}/log`;
  const podLogsRoot = set.podLogsDir === undefined ? `${systemLogRoot}/pods` : String(set.podLogsDir);
  const serverTls = tlsFrom({ ...tlsOf(set), ...options });
  // A kubelet that is told nothing keeps the score that it was started with.
  const { oomScoreAdj, ...rest } = settings;
  const config: KubeletConfig = {
    ...rest,
    ...(set.oomScoreAdj !== undefined && oomScoreAdj !== undefined && { oomScoreAdj }),
    // Upstream's default is none: every cluster of ours has this one.
    clusterDomain: set.clusterDomain === undefined ? KUBELET_DEFAULTS.clusterDomain : settings.clusterDomain,
    systemLogRoot,
    podLogsRoot,
    serverTls: serverTls === undefined ? undefined : tlsSettings(serverTls, false),
    nodeName: (options.hostnameOverride ?? hostname()).trim().toLowerCase(),
    nodeIps: options.nodeIp ?? (await mainAddress()),
    ...(options.cloudProvider === "external" && { externalCloud: { providedIps: options.nodeIp ?? [] } }),
    rootDir,
    ...providersFrom(options),
    nodeLabels: options.nodeLabels ?? KUBELET_DEFAULTS.nodeLabels,
    document: { ...document, podLogsDir: podLogsRoot },
  };
  return { config, runtimeEndpoint: String(document.containerRuntimeEndpoint), ignored };
}

/** What the flags say, as fields of a KubeletConfiguration. */
function documentOf(options: KubeletFlagOptions): Document {
  const { maxPods, port, imageGcHighThreshold: high, imageGcLowThreshold: low } = options;
  const { maxParallelImagePulls: parallel, registryQps, registryBurst } = options;
  const fields = {
    ...fieldsOfFlags(options as Readonly<Record<string, unknown>>),
    staticPodPath: options.podManifestPath,
    staticPodURL: options.manifestUrl,
    clusterDNS: options.clusterDns,
    clusterDomain: options.clusterDomain?.replace(/\.$/, ""),
    cgroupRoot: options.cgroupRoot,
    resolvConf: options.resolvConf,
    maxPods: maxPods === undefined ? undefined : whole("--max-pods", maxPods),
    port: port === undefined ? undefined : whole("--port", port),
    evictionHard: options.evictionHard,
    kubeReserved: options.kubeReserved,
    systemReserved: options.systemReserved,
    registerWithTaints: options.registerWithTaints,
    serverTLSBootstrap: options.rotateServerCertificates,
    seccompDefault: options.seccompDefault,
    podPidsLimit: options.podMaxPids,
    imageGCHighThresholdPercent: high === undefined ? undefined : whole("--image-gc-high-threshold", high),
    imageGCLowThresholdPercent: low === undefined ? undefined : whole("--image-gc-low-threshold", low),
    containerRuntimeEndpoint: options.containerRuntimeEndpoint,
    serializeImagePulls: options.serializeImagePulls,
    maxParallelImagePulls: parallel === undefined ? undefined : whole("--max-parallel-image-pulls", parallel),
    registryPullQPS: registryQps === undefined ? undefined : whole("--registry-qps", registryQps),
    registryBurst: registryBurst === undefined ? undefined : whole("--registry-burst", registryBurst),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Document;
}

function tlsOf({ tlsMinVersion, tlsCipherSuites }: Document): TlsFlagOptions {
  return {
    ...(typeof tlsMinVersion === "string" && tlsMinVersion !== "" && { tlsMinVersion }),
    ...(tlsCipherSuites !== undefined && { tlsCipherSuites: tlsCipherSuites as readonly string[] }),
  };
}

/** The providers' configuration and the folder of their programs belong together. */
function providersFrom(options: KubeletFlagOptions): Partial<KubeletConfig> {
  const { imageCredentialProviderConfig: providers, imageCredentialProviderBinDir: binDir } = options;
  if (providers === undefined && binDir === undefined) return {};
  if (providers === undefined || binDir === undefined)
    throw new ClusterError(
      "--image-credential-provider-config and --image-credential-provider-bin-dir belong together: give both.",
    );
  return { credentialProviderConfig: providers, credentialProviderBinDir: binDir };
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
