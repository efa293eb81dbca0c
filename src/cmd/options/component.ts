/** Flags that components in a process of their own share: how they reach the API server, who of several works, where they tell about themselves. */
import { Option } from "commander";
import { ClusterError, type ComponentConfig } from "#cluster";
import { boolean, milliseconds, wholeNumber } from "./values.ts";

export interface ComponentOptions {
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
    new Option("--kubeconfig <file>", "how to reach the API server, and as whom"),
    new Option("--master <url>", "where the API server is, instead of what the kubeconfig says"),
    new Option("--bind-address <ip>", "address for health and metrics").default("0.0.0.0"),
    new Option("--secure-port <port>", "port for health and metrics; 0: none")
      .argParser(wholeNumber(0, 65535))
      .default(port),
    new Option("--tls-cert-file <file>", "certificate to show there, instead of one that is made at the start"),
    new Option("--tls-private-key-file <file>", "its key"),
    new Option("--leader-elect [bool]", "whether only the elected one of several works")
      .preset("true")
      .argParser(boolean)
      .default(true),
    new Option("--leader-elect-lease-duration <duration>", "after which time others may take over")
      .argParser(milliseconds)
      .default(15_000, "15s"),
    new Option("--leader-elect-renew-deadline <duration>", "after which time without renewal the leader stops")
      .argParser(milliseconds)
      .default(10_000, "10s"),
    new Option("--leader-elect-retry-period <duration>", "how often to try")
      .argParser(milliseconds)
      .default(2_000, "2s"),
    new Option("--leader-elect-resource-lock <kind>", "what is locked").choices(["leases"]).default("leases"),
    new Option("--leader-elect-resource-name <name>", "the lease").default(name),
    new Option("--leader-elect-resource-namespace <namespace>", "where the lease is").default("kube-system"),
  ];
}

export function componentFrom(options: ComponentOptions): Omit<ComponentConfig, "name"> {
  const { kubeconfig, master, bindAddress, securePort, tlsCertFile, tlsPrivateKeyFile } = options;
  if (kubeconfig === undefined) throw new ClusterError("--kubeconfig is needed: it says how to reach the API server.");
  return {
    kubeconfig,
    ...(master !== undefined && { master }),
    ...(securePort !== 0 && {
      serving: {
        bindAddress,
        port: securePort,
        ...(tlsCertFile !== undefined && { tlsCertFile }),
        ...(tlsPrivateKeyFile !== undefined && { tlsPrivateKeyFile }),
      },
    }),
    ...(options.leaderElect && { election: electionFrom(options) }),
  };
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
