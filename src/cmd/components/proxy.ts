/**
 * `k8ts proxy`: Services, NetworkPolicies and DNS on one node, with the flags of kube-proxy where they mean the same.
 */
import { hostname } from "node:os";
import { Command, Option } from "commander";
import { ClusterError, type ListenAddress, runStandaloneProxy } from "#cluster";
import { type DnsFlagOptions, dnsFrom, dnsOptions } from "../options/dns.ts";
import { type FeatureOptions, featureGatesOption, featuresFrom } from "../options/features.ts";
import { flagValues } from "../options/flag-values.ts";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { boolean, listenAddress, milliseconds } from "../options/values.ts";
import { runUntilSignalled } from "../process/run-component.ts";

interface ProxyOptions extends DnsFlagOptions, LoggingFlagOptions, FeatureOptions {
  readonly kubeconfig?: string;
  readonly hostnameOverride?: string;
  readonly clusterCidr: readonly string[];
  readonly nodeportAddresses?: readonly string[];
  readonly proxyMode: "nftables" | "iptables";
  readonly networkPolicy: boolean;
  readonly syncPeriod?: number;
  readonly overlay: "auto" | "vxlan" | "none";
  readonly masqueradeOutside?: boolean;
  readonly metricsBindAddress?: ListenAddress;
  readonly healthzBindAddress?: ListenAddress;
  readonly apiBalancer?: ListenAddress;
  readonly apiBalancerMembers?: readonly string[];
  readonly apiBalancerFile?: string;
}

export function proxyCommand(): Command {
  const list = (value: string) => value.split(",").map((each) => each.trim());
  const command = new Command("proxy")
    .description("run only a node's network: kube-proxy, NetworkPolicies, DNS")
    .option("--kubeconfig <file>", "kubeconfig with the API server's address and credentials")
    .option("--hostname-override <name>", "name of the Node; default: the hostname")
    .addOption(
      new Option("--cluster-cidr <cidrs>", "Pod IP ranges").argParser(list).default(["10.244.0.0/16"], "10.244.0.0/16"),
    )
    .addOption(
      new Option("--nodeport-addresses <ips>", "addresses that serve node ports; default: the Node's").argParser(list),
    )
    .addOption(
      new Option("--proxy-mode <mode>", "kube-proxy mode").choices(["nftables", "iptables"]).default("nftables"),
    )
    .addOption(
      new Option("--network-policy [bool]", "enforce NetworkPolicies").preset("true").argParser(boolean).default(true),
    )
    .addOption(
      new Option("--metrics-bind-address <ip:port>", "address of metrics and reports, in clear text; empty: none")
        .argParser(listenAddress)
        .default({ host: "127.0.0.1", port: 10249 }, "127.0.0.1:10249"),
    )
    .addOption(
      new Option("--healthz-bind-address <ip:port>", "address of the health check; empty: none")
        .argParser(listenAddress)
        .default({ host: "0.0.0.0", port: 10256 }, "0.0.0.0:10256"),
    )
    .addOption(new Option("--sync-period <duration>", "period of full resyncs").argParser(milliseconds))
    .addOption(
      new Option(
        "--overlay <mode>",
        "how to reach Pods on other nodes: direct routes, with VXLAN for nodes on other links (auto), always VXLAN (vxlan), or routes set up elsewhere (none)",
      )
        .choices(["auto", "vxlan", "none"])
        .default("none"),
    )
    .addOption(
      new Option(
        "--masquerade-outside [bool]",
        "masquerade traffic from Pods to outside the cluster; default: with an overlay",
      )
        .preset("true")
        .argParser(boolean),
    )
    .addOption(
      new Option(
        "--api-balancer <ip:port>",
        "balance connections to this address among the API servers that are ready; --kubeconfig then names it",
      ).argParser(listenAddress),
    )
    .addOption(
      new Option("--api-balancer-members <addresses>", "API servers to begin with, as host:port").argParser(list),
    )
    .option("--api-balancer-file <file>", "where the API servers of the cluster are remembered")
    .action(async (options: ProxyOptions) => {
      const { kubeconfig, clusterDns = [], overlay } = options;
      if (kubeconfig === undefined)
        throw new ClusterError("--kubeconfig is required: it has the API server's address and credentials.");
      const config = {
        kubeconfig,
        nodeName: (options.hostnameOverride ?? hostname()).toLowerCase(),
        clusterCidrs: options.clusterCidr,
        proxyMode: options.proxyMode,
        networkPolicy: options.networkPolicy,
        ...(overlay !== "none" && { overlay }),
        masqueradesOutside: options.masqueradeOutside ?? overlay !== "none",
        nodePortAddresses: options.nodeportAddresses,
        resyncMs: options.syncPeriod,
        features: featuresFrom(options),
        flags: flagValues(command),
        apiBalancer: balancerFrom(options),
        listen: { metrics: options.metricsBindAddress, health: options.healthzBindAddress },
        ...(clusterDns.length > 0 && { dns: dnsFrom(options, clusterDns) }),
      };
      await runUntilSignalled(
        [],
        (environment, signal) => runStandaloneProxy(config, environment, signal),
        loggingFrom(options),
      );
    });
  for (const option of [...dnsOptions(), ...loggingOptions(), featureGatesOption()]) command.addOption(option);
  return command;
}

/** Throws ClusterError. */
function balancerFrom({ apiBalancer, apiBalancerMembers: members = [], apiBalancerFile: file }: ProxyOptions) {
  if (apiBalancer === undefined) {
    if (members.length > 0 || file !== undefined)
      throw new ClusterError("--api-balancer-members and --api-balancer-file need --api-balancer IP:PORT.");
    return undefined;
  }
  if (file === undefined || members.length === 0)
    throw new ClusterError("--api-balancer needs --api-balancer-members and --api-balancer-file.");
  const wrong = members.find((member) => !URL.canParse(`https://${member}`));
  if (wrong !== undefined) throw new ClusterError(`--api-balancer-members: ${wrong} is not host:port.`);
  return { ...apiBalancer, members, file };
}
