/** Flags that all standalone components share: API server, leader election, health and metrics. */
import { Option } from "commander";
import { ClusterError, type ComponentConfig } from "#cluster";
import { type MetricsFlagOptions, metricsFrom, metricsOptions } from "./metrics.ts";
import { type TlsFlagOptions, tlsFrom, tlsOptions } from "./tls.ts";
import { type TracingFlagOptions, tracingOption } from "./tracing.ts";
import { boolean, milliseconds, wholeNumber } from "./values.ts";

export interface ComponentOptions extends MetricsFlagOptions, TlsFlagOptions, TracingFlagOptions {
  readonly kubeconfig?: string;
  readonly master?: string;
  readonly bindAddress: string;
  readonly securePort: number;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly leaderElect: boolean;
  readonly leaderElectLeaseDuration: number;
  readonly leaderElectRenewDeadline: number;
  readonly leaderElectRetryPeriod: number;
  readonly leaderElectResourceLock: string;
  readonly leaderElectResourceName: string;
  readonly leaderElectResourceNamespace: string;
}

export interface ComponentDefaults {
  /** Of the lease. */
  readonly name: string;
  readonly port: number;
}

export function componentOptions({ name, port }: ComponentDefaults): readonly Option[] {
  return [
    new Option("--kubeconfig <file>", "kubeconfig with the API server's address and credentials"),
    new Option("--master <url>", "URL of the API server; overrides the kubeconfig"),
    new Option("--bind-address <ip>", "address for health and metrics").default("0.0.0.0"),
    new Option("--secure-port <port>", "port for health and metrics; 0: none")
      .argParser(wholeNumber(0, 65535))
      .default(port),
    new Option("--tls-cert-file <file>", "serving certificate for health and metrics (default: self-signed)"),
    new Option("--tls-private-key-file <file>", "private key of that certificate"),
    new Option("--leader-elect [bool]", "use leader election").preset("true").argParser(boolean).default(true),
    new Option("--leader-elect-lease-duration <duration>", "time after which an unrenewed lease may be taken over")
      .argParser(milliseconds)
      .default(15_000, "15s"),
    new Option(
      "--leader-elect-renew-deadline <duration>",
      "time after which a leader that cannot renew its lease stops",
    )
      .argParser(milliseconds)
      .default(10_000, "10s"),
    new Option("--leader-elect-retry-period <duration>", "time between attempts to acquire or renew the lease")
      .argParser(milliseconds)
      .default(2_000, "2s"),
    new Option("--leader-elect-resource-lock <kind>", "kind of the lock object").choices(["leases"]).default("leases"),
    new Option("--leader-elect-resource-name <name>", "name of the Lease").default(name),
    new Option("--leader-elect-resource-namespace <namespace>", "namespace of the Lease").default("kube-system"),
    ...tlsOptions(),
    ...metricsOptions(),
    tracingOption(),
  ];
}

export function componentFrom(options: ComponentOptions): Omit<ComponentConfig, "name"> {
  const { kubeconfig, master, bindAddress, securePort, tlsCertFile, tlsPrivateKeyFile } = options;
  if (kubeconfig === undefined)
    throw new ClusterError("--kubeconfig is required: it has the API server's address and credentials.");
  return {
    kubeconfig,
    master,
    ...(options.tracingConfigFile !== undefined && { tracingConfigFile: options.tracingConfigFile }),
    ...(hasMetricsFlags(options) && { metrics: metricsFrom(options) }),
    ...(securePort !== 0 && {
      serving: {
        bindAddress,
        port: securePort,
        tlsCertFile,
        tlsPrivateKeyFile,
        tls: tlsFrom(options),
      },
    }),
    ...(options.leaderElect && { election: electionFrom(options) }),
  };
}

function hasMetricsFlags(options: MetricsFlagOptions): boolean {
  const { showHiddenMetricsForVersion, disabledMetrics, allowMetricLabels, allowMetricLabelsManifest } = options;
  return [showHiddenMetricsForVersion, disabledMetrics, allowMetricLabels, allowMetricLabelsManifest].some(
    (value) => value !== undefined,
  );
}

function electionFrom(options: ComponentOptions): NonNullable<ComponentConfig["election"]> {
  const { leaderElectLeaseDuration: leaseMs, leaderElectRenewDeadline: renewDeadlineMs } = options;
  const { leaderElectRetryPeriod: retryMs, leaderElectResourceName: lease } = options;
  if (leaseMs <= renewDeadlineMs) {
    throw new ClusterError("--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline.");
  }
  if (renewDeadlineMs <= 1.2 * retryMs) {
    throw new ClusterError(
      "--leader-elect-renew-deadline must be longer than --leader-elect-retry-period, by a fifth.",
    );
  }
  return { namespace: options.leaderElectResourceNamespace, lease, leaseMs, renewDeadlineMs, retryMs };
}
