/**
 * `k8ts cloud-controller-manager`: the controllers of a cloud provider, with upstream's flags. Providers: `local`,
 * whose load balancers are addresses from a pool, and `http`, a server that answers docs/cloud-provider.openapi.yaml.
 */
import { Command, Option } from "commander";
import { ClusterError, runStandaloneCloudControllerManager, type StandaloneCloudConfig } from "#cluster";
import { type ComponentOptions, componentFrom, componentOptions } from "../options/component.ts";
import { type FeatureOptions, featureOptions, featuresFrom } from "../options/features.ts";
import { flagValues } from "../options/flag-values.ts";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import {
  helpOnFlags,
  IDLE_IN_COMPONENTS,
  names,
  notesOnFlags,
  type OriginalFlags,
  originalFlags,
} from "../options/upstream-flags.ts";
import { boolean, list, milliseconds, wholeNumber } from "../options/values.ts";
import { runUntilSignalled } from "../process/run-component.ts";

const NAME = "cloud-controller-manager";
/** Reserved for documentation (RFC 5737): not in use on any real network. */
const POOL = "203.0.113.16/28";

export interface CloudOptions extends ComponentOptions, LoggingFlagOptions, FeatureOptions {
  readonly cloudProvider: "local" | "http";
  readonly cloudConfig?: string;
  readonly clusterName: string;
  readonly clusterCidr?: readonly string[];
  readonly allocateNodeCidrs: boolean;
  readonly configureCloudRoutes: boolean;
  readonly nodeStatusUpdateFrequency: number;
  readonly nodeMonitorPeriod: number;
  readonly routeReconciliationPeriod: number;
  readonly concurrentServiceSyncs: number;
  readonly concurrentNodeSyncs: number;
  readonly controllers?: readonly string[];
  readonly useServiceAccountCredentials: boolean;
  readonly loadBalancerAddresses: readonly string[];
  readonly loadBalancerClass?: string;
}

const ORIGINAL: OriginalFlags = {
  component: "this cloud controller manager",
  withoutEffect: {
    ...IDLE_IN_COMPONENTS,
    "controllers follow watches, and look again only when something is due": names(`
      min-resync-period controller-start-interval node-sync-period`),
    "Pod ranges are allocated by kube-controller-manager": names("cidr-allocator-type"),
    "there is nothing to migrate from: controllers of clouds have always been here": names(`
      enable-leader-migration leader-migration-config`),
  },
  refused: names(`
    tls-sni-cert-key allow-untagged-cloud external-cloud-volume-plugin webhooks webhook-bind-address
    webhook-secure-port webhook-cert-dir webhook-tls-cert-file webhook-tls-private-key-file`),
};

export function cloudControllerManagerCommand(): Command {
  const command = new Command(NAME)
    .description("run only the cloud controllers, with the flags of cloud-controller-manager")
    .addOption(new Option("--cloud-provider <name>", "cloud provider").choices(["local", "http"]).default("local"))
    .option("--cloud-config <file>", "configuration of the provider http: kind HTTPCloudConfig")
    .addOption(
      new Option("--load-balancer-addresses <ranges>", "IP ranges for Services of type LoadBalancer, of local")
        .argParser((value: string) => list(value))
        .default([POOL], POOL),
    )
    .option("--load-balancer-class <class>", "loadBalancerClass to serve, besides Services without one");
  for (const option of [
    ...ownOptions(),
    ...componentOptions({ name: NAME, port: 10_258 }),
    ...loggingOptions(),
    ...featureOptions(),
    ...originalFlags(ORIGINAL),
  ])
    command.addOption(option);
  command.addHelpText("after", helpOnFlags(ORIGINAL));
  return command.action(async (flags: CloudOptions) => {
    const notes = notesOnFlags(command, ORIGINAL);
    const { CLOUD_CONTROLLERS } = await import("#cloud");
    const config = { ...cloudConfigFrom(flags, CLOUD_CONTROLLERS), flags: flagValues(command) };
    await runUntilSignalled(
      notes,
      (environment, signal) => runStandaloneCloudControllerManager(config, environment, signal),
      loggingFrom(flags),
    );
  });
}

function ownOptions(): readonly Option[] {
  const switchOf = (name: string, help: string, own: boolean) =>
    new Option(`--${name} [bool]`, help).preset("true").argParser(boolean).default(own);
  const periodOf = (name: string, help: string, ms: number, text: string) =>
    new Option(`--${name} <duration>`, help).argParser(milliseconds).default(ms, text);
  const countOf = (name: string, help: string) =>
    new Option(`--${name} <count>`, help).argParser(wholeNumber(1, 1000)).default(1);
  return [
    new Option("--cluster-name <name>", "name of the cluster, for what belongs to it in the cloud").default(
      "kubernetes",
    ),
    new Option("--cluster-cidr <ranges>", "Pod IP ranges: only routes into them are the cluster's").argParser(
      (value: string) => list(value),
    ),
    switchOf("allocate-node-cidrs", "nodes have Pod ranges of --cluster-cidr, which need routes", false),
    switchOf("configure-cloud-routes", "whether those routes are made", true),
    periodOf("node-status-update-frequency", "time between looks at the addresses of a node", 300_000, "5m"),
    periodOf("node-monitor-period", "time between looks at a node that is not ready", 5_000, "5s"),
    periodOf("route-reconciliation-period", "time between looks at routes", 10_000, "10s"),
    countOf("concurrent-service-syncs", "how many Services are worked on at a time"),
    countOf("concurrent-node-syncs", "how many nodes are worked on at a time"),
    new Option("--controllers <names>", "controllers to run: * for all, a name, or -name to disable one").argParser(
      (value: string) => list(value).filter((each) => each !== ""),
    ),
    switchOf("use-service-account-credentials", "run each controller with its own service account", false),
  ];
}

export function cloudConfigFrom(
  flags: CloudOptions,
  shortNames: Readonly<Record<string, string>>,
): StandaloneCloudConfig {
  const { clusterCidr, allocateNodeCidrs, configureCloudRoutes } = flags;
  if (allocateNodeCidrs && (clusterCidr ?? []).length === 0)
    throw new ClusterError("--allocate-node-cidrs needs --cluster-cidr.");
  const hasRoutes = allocateNodeCidrs && configureCloudRoutes;
  return {
    ...componentFrom(flags),
    features: featuresFrom(flags),
    provider: flags.cloudProvider,
    configFile: flags.cloudConfig,
    loadBalancerAddresses: flags.loadBalancerAddresses,
    clusterName: flags.clusterName,
    useServiceAccountCredentials: flags.useServiceAccountCredentials,
    selection: flags.controllers?.map((each) => {
      const sign = each.startsWith("-") ? "-" : "";
      const name = each.slice(sign.length);
      return sign + (shortNames[name] ?? name);
    }),
    controllers: {
      nodes: { updateMs: flags.nodeStatusUpdateFrequency, concurrency: flags.concurrentNodeSyncs },
      lifecycle: { monitorMs: flags.nodeMonitorPeriod },
      routes: hasRoutes && { clusterCidrs: clusterCidr, periodMs: flags.routeReconciliationPeriod },
      services: { loadBalancerClass: flags.loadBalancerClass, concurrency: flags.concurrentServiceSyncs },
    },
  };
}
