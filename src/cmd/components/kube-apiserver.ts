/**
 * `kube-apiserver`: only the API server, backed by etcd, with upstream's flags. It replaces kube-apiserver where other
 * programs start it: controller-runtime's envtest, manifests, scripts.
 */
import { Command, Option } from "commander";
import { realClock } from "#base";
import { type ApiServerConfig, ClusterError, startStandaloneApiServer } from "#cluster";
import { type AdmissionFlagOptions, admissionFrom, admissionOptions } from "../options/api-server/admission.ts";
import { type AggregationFlagOptions, aggregationFrom, aggregationOptions } from "../options/api-server/aggregation.ts";
import { type ApisFlagOptions, apisOptions } from "../options/api-server/apis.ts";
import { type AuditFlagOptions, auditFrom, auditOptions } from "../options/api-server/audit.ts";
import {
  type AuthenticationOptions,
  authenticationFrom,
  authenticationOptions,
} from "../options/api-server/authentication.ts";
import {
  type AuthorizationOptions,
  authorizationFrom,
  authorizationOptions,
} from "../options/api-server/authorization.ts";
import {
  checkDiagnostics,
  type DiagnosticsFlagOptions,
  diagnosticsOptions,
} from "../options/api-server/diagnostics.ts";
import { type EncryptionOptions, encryptionFrom, encryptionOptions } from "../options/api-server/encryption.ts";
import { type EtcdOptions, etcdOptions, etcdStore } from "../options/api-server/etcd.ts";
import { type FairnessFlagOptions, fairnessFrom, fairnessOptions } from "../options/api-server/fairness.ts";
import {
  type KubeletReachOptions,
  kubeletReachFrom,
  kubeletReachOptions,
} from "../options/api-server/kubelet-connection.ts";
import { type LeadershipFlagOptions, leadershipFrom, leadershipOptions } from "../options/api-server/leadership.ts";
import { allowPrivilegedOption, type PrivilegedOptions } from "../options/api-server/privileged.ts";
import { type RequestFlagOptions, requestOptions, requestsFrom } from "../options/api-server/requests.ts";
import { type ServiceFlagOptions, serviceOptions, servicesFrom } from "../options/api-server/services.ts";
import { notesOnServing, type ServingFlagOptions, servingFrom, servingOptions } from "../options/api-server/serving.ts";
import { type ServingThreadsOptions, servingThreadsOption } from "../options/api-server/serving-threads.ts";
import { type ShutdownFlagOptions, shutdownFrom, shutdownOptions } from "../options/api-server/shutdown.ts";
import { type StorageFlagOptions, storageFrom, storageOptions } from "../options/api-server/storage.ts";
import { type EnvtestOptions, envtestFrom } from "../options/envtest.ts";
import { type FeatureOptions, featureOptions, featuresFrom, forwardCompatibleOptions } from "../options/features.ts";
import { flagValues } from "../options/flag-values.ts";
import { type LoggingConfig, type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { type MetricsFlagOptions, metricsFrom, metricsOptions } from "../options/metrics.ts";
import { flowRecordsOption, historyWindowOption, type RecordingOptions } from "../options/recording.ts";
import { type TracingFlagOptions, tracingOption } from "../options/tracing.ts";
import { helpOnFlags, KUBE_APISERVER, notesOnFlags, originalFlags } from "../options/upstream-flags.ts";
import { milliseconds, wholeNumber } from "../options/values.ts";
import { componentLog } from "../process/component-log.ts";
import { parentEnded } from "../process/parent.ts";

export interface KubeApiServerOptions
  extends EtcdOptions,
    StorageFlagOptions,
    ServiceFlagOptions,
    AuthenticationOptions,
    AuthorizationOptions,
    EncryptionOptions,
    AdmissionFlagOptions,
    AuditFlagOptions,
    KubeletReachOptions,
    FairnessFlagOptions,
    LoggingFlagOptions,
    MetricsFlagOptions,
    ServingFlagOptions,
    ServingThreadsOptions,
    FeatureOptions,
    RequestFlagOptions,
    ShutdownFlagOptions,
    AggregationFlagOptions,
    DiagnosticsFlagOptions,
    ApisFlagOptions,
    PrivilegedOptions,
    LeadershipFlagOptions,
    TracingFlagOptions,
    RecordingOptions {
  readonly bindAddress: string;
  readonly securePort: number;
  readonly advertiseAddress?: string;
  readonly certDir: string;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly serviceClusterIpRange?: readonly string[];
  readonly eventTtl?: number;
  readonly proxyClientCertFile?: string;
  readonly proxyClientKeyFile?: string;
  readonly egressSelectorConfigFile?: string;
}

export function kubeApiServerCommand(): Command {
  const command = new Command("kube-apiserver")
    .alias("apiserver")
    .description("run only the API server, backed by etcd, with the flags of kube-apiserver")
    .option("--bind-address <ip>", "address to listen on", "0.0.0.0")
    .addOption(
      new Option("--secure-port <port>", "port to listen on; 0 picks a free one")
        .argParser(wholeNumber(0, 65535))
        .default(6443),
    )
    .option("--advertise-address <ip>", "address at which clients reach this server; default: --bind-address")
    .option(
      "--cert-dir <dir>",
      "directory of apiserver.crt and apiserver.key, which are created if missing",
      "/var/run/kubernetes",
    )
    .option("--tls-cert-file <file>", "serving certificate, instead of the one in --cert-dir")
    .option("--tls-private-key-file <file>", "private key of that certificate")
    .addOption(
      new Option("--service-cluster-ip-range <cidrs>", "Service IP range, or one IPv4 and one IPv6 range").argParser(
        (value: string) => value.split(",").map((cidr) => cidr.trim()),
      ),
    )
    .addOption(servingThreadsOption())
    .addOption(allowPrivilegedOption(false))
    .addOption(
      new Option("--event-ttl <duration>", "how long Events are kept, such as 1h30m (default: 1h)").argParser(
        milliseconds,
      ),
    )
    .addOption(historyWindowOption())
    .addOption(flowRecordsOption())
    .addOption(tracingOption())
    .option("--proxy-client-cert-file <file>", "client certificate for aggregated API servers")
    .option("--proxy-client-key-file <file>", "private key of that certificate")
    .option("--egress-selector-config-file <file>", "EgressSelectorConfiguration: proxies for outgoing connections")
    .action(async (options: KubeApiServerOptions) => {
      const notes = [...notesOnFlags(command, KUBE_APISERVER), ...notesOnServing(options)];
      const environment = envtestFrom(process.env);
      const companions = { controllers: environment.controllers, nodes: environment.nodes };
      const config = { ...kubeApiServerConfig(options), companions, flags: flagValues(command) };
      await run(config, notes, loggingFrom(options), environment);
    });
  const groups = [
    etcdOptions(),
    storageOptions(),
    serviceOptions(),
    authenticationOptions(),
    authorizationOptions(),
    encryptionOptions(),
    admissionOptions(),
    auditOptions(),
    fairnessOptions(),
    featureOptions(),
    forwardCompatibleOptions(),
    apisOptions(),
    leadershipOptions(),
    kubeletReachOptions(),
    loggingOptions(),
    metricsOptions(),
    servingOptions(),
    requestOptions(),
    shutdownOptions(),
    aggregationOptions(),
    diagnosticsOptions(),
  ];
  for (const option of [...groups.flat(), ...originalFlags(KUBE_APISERVER)]) command.addOption(option);
  command.addHelpText("after", helpOnFlags(KUBE_APISERVER));
  return command;
}

export function kubeApiServerConfig(options: KubeApiServerOptions): ApiServerConfig {
  const { advertiseAddress, tlsCertFile, tlsPrivateKeyFile, clientCaFile, serviceClusterIpRange, eventTtl } = options;
  checkDiagnostics(options);
  const { proxyClientCertFile: certFile, proxyClientKeyFile: keyFile } = options;
  if (options.flowRecords === "file")
    throw new ClusterError("--flow-records file needs the data directory of `k8ts up`: choose memory or off.");
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new ClusterError("--proxy-client-cert-file and --proxy-client-key-file belong together: give both or none.");
  }
  return {
    bindAddress: options.bindAddress,
    port: options.securePort,
    certDir: options.certDir,
    store: etcdStore(options, "--etcd-servers must be specified"),
    storage: storageFrom(options),
    services: servicesFrom(options),
    authentication: authenticationFrom(options),
    authorization: authorizationFrom(options),
    encryption: encryptionFrom(options),
    admission: admissionFrom(options),
    allowPrivileged: options.allowPrivileged,
    audit: auditFrom(options),
    fairness: fairnessFrom(options),
    features: featuresFrom(options),
    metrics: metricsFrom(options),
    serving: { ...servingFrom(options), ...requestsFrom(options), ...shutdownFrom(options) },
    runtimeConfig: options.runtimeConfig,
    leadership: leadershipFrom(options),
    historyWindowMs: options.historyWindow,
    flowRecords: options.flowRecords,
    tracingConfigFile: options.tracingConfigFile,
    egressSelectorConfigFile: options.egressSelectorConfigFile,
    kubelets: kubeletReachFrom(options),
    aggregation: aggregationFrom(options),
    advertiseAddress,
    tlsCertFile,
    tlsPrivateKeyFile,
    clientCaFile,
    serviceCidrs: serviceClusterIpRange,
    servingThreads: options.servingThreads,
    eventTtlMs: eventTtl,
    ...(certFile !== undefined && keyFile !== undefined && { proxyClient: { certFile, keyFile } }),
  };
}

async function run(
  config: ApiServerConfig,
  notes: readonly string[],
  logging: LoggingConfig,
  { endsWithParent }: Pick<EnvtestOptions, "endsWithParent">,
): Promise<void> {
  const clock = realClock();
  const log = componentLog(clock, logging);
  for (const note of notes) log.warn(note);
  const signalled = Promise.withResolvers<NodeJS.Signals | "the end of the parent process">();
  // A start that waits, for example for etcd, ends with the process that started it.
  let started = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (!started) process.exit(1);
      signalled.resolve(signal);
    });
  }
  const watching = new AbortController();
  if (endsWithParent)
    parentEnded(clock, watching.signal).then((ended) => {
      if (ended && !started) process.exit(1);
      if (ended) signalled.resolve("the end of the parent process");
    }, signalled.reject);
  const server = await startStandaloneApiServer(config, { clock, log, progress: () => {} });
  started = true;
  log.info("ready", { address: config.bindAddress, port: server.port });
  log.info("stopping", { signal: await signalled.promise });
  watching.abort();
  // A second signal always ends the process, even if stopping hangs.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  await server.stop();
  log.info("stopped");
}
