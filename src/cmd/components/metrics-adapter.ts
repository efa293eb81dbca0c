/**
 * `k8ts metrics-adapter`: custom and external metrics from Prometheus or from a script, in its own process, with the
 * flags of prometheus-adapter.
 */
import { Command, Option } from "commander";
import { ClusterError, runStandaloneMetricsAdapter, type StandaloneMetricsAdapterConfig } from "#cluster";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { type TlsFlagOptions, tlsFrom, tlsOptions } from "../options/tls.ts";
import { names, notesOnFlags, type OriginalFlags, originalFlags } from "../options/upstream-flags.ts";
import { milliseconds, wholeNumber } from "../options/values.ts";
import { runUntilSignalled } from "../process/run-component.ts";

export interface MetricsAdapterOptions extends LoggingFlagOptions, TlsFlagOptions {
  readonly kubeconfig?: string;
  readonly config?: string;
  readonly prometheusUrl?: string;
  readonly prometheusVerb: "GET" | "POST";
  readonly prometheusCaFile?: string;
  readonly prometheusTokenFile?: string;
  readonly prometheusTimeout: number;
  readonly metricsRelistInterval: number;
  readonly metricsMaxAge?: number;
  readonly bindAddress: string;
  readonly securePort: number;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly register?: string;
}

const ORIGINAL: OriginalFlags = {
  component: "this metrics adapter",
  withoutEffect: names(`
    cert-dir http2-max-streams-per-connection disable-http2 permit-address-sharing permit-port-sharing
    authentication-kubeconfig authentication-skip-lookup authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure
    authorization-kubeconfig authorization-always-allow-paths authorization-webhook-cache-authorized-ttl
    authorization-webhook-cache-unauthorized-ttl lister-kubeconfig discovery-interval profiling contention-profiling`),
  refused: names(`
    tls-sni-cert-key client-ca-file requestheader-client-ca-file requestheader-allowed-names requestheader-username-headers
    requestheader-group-headers requestheader-extra-headers-prefix prometheus-auth-incluster prometheus-auth-config
    prometheus-client-tls-cert-file prometheus-client-tls-key-file prometheus-header disable-http-keep-alives`),
};

export function metricsAdapterCommand(): Command {
  const command = new Command("metrics-adapter")
    .description("serve custom and external metrics to autoscalers, with the flags of prometheus-adapter")
    .option("--kubeconfig <file>", "kubeconfig with the API server's address and credentials")
    .option("--config <file>", "rules, as prometheus-adapter has them, and scripted values; followed while it runs")
    .option("--prometheus-url <url>", "Prometheus, with its path prefix")
    .option("--prometheus-ca-file <file>", "CA bundle of Prometheus (default: those of the system)")
    .option("--prometheus-token-file <file>", "bearer token for Prometheus; followed while it runs")
    .option("--tls-cert-file <file>", "serving certificate (default: self-signed)")
    .option("--tls-private-key-file <file>", "private key of that certificate")
    .option(
      "--register <host>",
      "register its APIs while it runs; the API server reaches it at this host, such as localhost",
    )
    .action(async (options: MetricsAdapterOptions) => {
      const notes = notesOnFlags(command, ORIGINAL);
      const config = metricsAdapterConfig(options);
      await runUntilSignalled(
        notes,
        (environment, signal) => runStandaloneMetricsAdapter(config, environment, signal),
        loggingFrom(options),
      );
    });
  const own = [
    new Option("--prometheus-verb <verb>", "HTTP method of queries").choices(["GET", "POST"]).default("GET"),
    new Option("--prometheus-timeout <duration>", "how long Prometheus may take to answer")
      .argParser(milliseconds)
      .default(30_000, "30s"),
    new Option("--metrics-relist-interval <duration>", "time between two lists of series")
      .argParser(milliseconds)
      .default(600_000, "10m"),
    new Option(
      "--metrics-max-age <duration>",
      "how old a series may be (default: the interval between lists)",
    ).argParser(milliseconds),
    new Option("--bind-address <ip>", "address to serve at").default("0.0.0.0"),
    new Option("--secure-port <port>", "port to serve at").argParser(wholeNumber(1, 65535)).default(6443),
  ];
  for (const option of [...own, ...tlsOptions(), ...loggingOptions(), ...originalFlags(ORIGINAL)])
    command.addOption(option);
  return command;
}

export function metricsAdapterConfig(options: MetricsAdapterOptions): StandaloneMetricsAdapterConfig {
  const { kubeconfig, config, prometheusUrl, metricsRelistInterval: relistMs, metricsMaxAge: maxAgeMs } = options;
  if (kubeconfig === undefined)
    throw new ClusterError("--kubeconfig is required: it has the API server's address and credentials.");
  if (config === undefined) throw new ClusterError("--config is required: it has the rules.");
  if (relistMs < 1_000) throw new ClusterError("--metrics-relist-interval must be at least 1s.");
  if (maxAgeMs !== undefined && maxAgeMs < relistMs)
    throw new ClusterError("--metrics-max-age must not be less than --metrics-relist-interval.");
  const { prometheusVerb, prometheusCaFile, prometheusTokenFile, prometheusTimeout } = options;
  if (prometheusUrl !== undefined && !/^https?:$/.test(URL.parse(prometheusUrl)?.protocol ?? ""))
    throw new ClusterError(`--prometheus-url: ${JSON.stringify(prometheusUrl)} is not a URL such as http://host:9090.`);
  const { bindAddress, securePort: port, tlsCertFile, tlsPrivateKeyFile } = options;
  return {
    kubeconfig,
    serving: { bindAddress, port, tlsCertFile, tlsPrivateKeyFile, tls: tlsFrom(options) },
    configFile: config,
    prometheus:
      prometheusUrl === undefined
        ? undefined
        : {
            url: prometheusUrl,
            method: prometheusVerb,
            caFile: prometheusCaFile,
            tokenFile: prometheusTokenFile,
            timeoutMs: prometheusTimeout,
          },
    relistMs,
    maxAgeMs,
    registerAs: options.register,
  };
}
