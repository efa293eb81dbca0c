/** `k8ts metrics-server`: the resource metrics API in its own process, with the flags of metrics-server. */
import { Command, Option } from "commander";
import { ClusterError, runStandaloneMetricsServer, type StandaloneMetricsServerConfig } from "#cluster";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { type TlsFlagOptions, tlsFrom, tlsOptions } from "../options/tls.ts";
import { names, notesOnFlags, type OriginalFlags, originalFlags } from "../options/upstream-flags.ts";
import { boolean, milliseconds, wholeNumber } from "../options/values.ts";
import { runUntilSignalled } from "../process/run-component.ts";

const PORT = 10250;
const LEAST_RESOLUTION_MS = 10_000;

export interface MetricsServerOptions extends LoggingFlagOptions, TlsFlagOptions {
  readonly kubeconfig?: string;
  readonly bindAddress: string;
  readonly securePort: number;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly metricResolution: number;
  readonly nodeSelector?: string;
  readonly kubeletPort: number;
  readonly kubeletUseNodeStatusPort: boolean;
  readonly kubeletPreferredAddressTypes: readonly string[];
  readonly kubeletInsecureTls: boolean;
  readonly kubeletCertificateAuthority?: string;
  readonly kubeletClientCertificate?: string;
  readonly kubeletClientKey?: string;
  readonly kubeletRequestTimeout: number;
}

const ORIGINAL: OriginalFlags = {
  component: "this metrics server",
  withoutEffect: names(`
    cert-dir http2-max-streams-per-connection disable-http2-serving permit-address-sharing permit-port-sharing
    authentication-kubeconfig authentication-skip-lookup authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure
    authorization-kubeconfig authorization-always-allow-paths authorization-webhook-cache-authorized-ttl
    authorization-webhook-cache-unauthorized-ttl profiling contention-profiling`),
  refused: names(`
    tls-sni-cert-key client-ca-file requestheader-client-ca-file requestheader-allowed-names requestheader-username-headers
    requestheader-group-headers requestheader-extra-headers-prefix deprecated-kubelet-completely-insecure
    deprecated-kubelet-readonly-port`),
  fixed: {},
};

export function metricsServerCommand(): Command {
  const command = new Command("metrics-server")
    .description("run only the resource metrics API, with the flags of metrics-server")
    .option("--kubeconfig <file>", "kubeconfig with the API server's address and credentials")
    .option("--tls-cert-file <file>", "serving certificate (default: self-signed)")
    .option("--tls-private-key-file <file>", "private key of that certificate")
    .option("--node-selector <labels>", "ask only Nodes with these labels")
    .option("--kubelet-certificate-authority <file>", "CA bundle of the kubelets (default: that of the kubeconfig)")
    .option("--kubelet-client-certificate <file>", "client certificate for kubelets (default: the kubeconfig's user)")
    .option("--kubelet-client-key <file>", "private key of that certificate")
    .action(async (options: MetricsServerOptions) => {
      const notes = notesOnFlags(command, ORIGINAL);
      const config = metricsServerConfig(options);
      await runUntilSignalled(
        notes,
        (environment, signal) => runStandaloneMetricsServer(config, environment, signal),
        loggingFrom(options),
      );
    });
  const flag = (name: string, text: string) =>
    new Option(`--${name} [bool]`, text).preset("true").argParser(boolean).default(false);
  const own = [
    new Option("--bind-address <ip>", "address to serve at").default("0.0.0.0"),
    new Option("--secure-port <port>", "port to serve at").argParser(wholeNumber(1, 65535)).default(PORT),
    new Option("--metric-resolution <duration>", "time between two measurements, at least 10s")
      .argParser(milliseconds)
      .default(15_000, "15s"),
    new Option("--kubelet-port <port>", "port of the kubelets").argParser(wholeNumber(1, 65535)).default(PORT),
    flag("kubelet-use-node-status-port", "use the port of the Node's status instead of --kubelet-port"),
    new Option("--kubelet-preferred-address-types <types>", "types of Node addresses, preferred first")
      .argParser((value: string) => value.split(",").map((each) => each.trim()))
      .default(
        ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"],
        "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP",
      ),
    flag("kubelet-insecure-tls", "do not verify the kubelets' certificates"),
    new Option("--kubelet-request-timeout <duration>", "how long a kubelet may take to answer")
      .argParser(milliseconds)
      .default(10_000, "10s"),
  ];
  for (const option of [...own, ...tlsOptions(), ...loggingOptions(), ...originalFlags(ORIGINAL)])
    command.addOption(option);
  return command;
}

export function metricsServerConfig(options: MetricsServerOptions): StandaloneMetricsServerConfig {
  const { kubeconfig, bindAddress, securePort, tlsCertFile, tlsPrivateKeyFile, metricResolution, nodeSelector } =
    options;
  if (kubeconfig === undefined)
    throw new ClusterError("--kubeconfig is required: it has the API server's address and credentials.");
  if (metricResolution < LEAST_RESOLUTION_MS)
    throw new ClusterError("--metric-resolution should be a time duration at least 10s.");
  if (options.kubeletRequestTimeout >= metricResolution)
    throw new ClusterError("--kubelet-request-timeout must be shorter than --metric-resolution.");
  if (options.kubeletInsecureTls && options.kubeletCertificateAuthority !== undefined)
    throw new ClusterError("--kubelet-insecure-tls and --kubelet-certificate-authority exclude each other.");
  return {
    kubeconfig,
    serving: { bindAddress, port: securePort, tlsCertFile, tlsPrivateKeyFile, tls: tlsFrom(options) },
    resolutionMs: metricResolution,
    nodeSelector,
    kubelet: {
      timeoutMs: options.kubeletRequestTimeout,
      port: options.kubeletUseNodeStatusPort ? undefined : options.kubeletPort,
      addressTypes: options.kubeletPreferredAddressTypes,
      insecureTls: options.kubeletInsecureTls,
      caFile: options.kubeletCertificateAuthority,
      certFile: options.kubeletClientCertificate,
      keyFile: options.kubeletClientKey,
    },
  };
}
