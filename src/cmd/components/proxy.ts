/** `k8ts proxy`: Services, NetworkPolicies and DNS on one node, with the flags of kube-proxy where they mean the same. */
import { hostname } from "node:os";
import { Command, Option } from "commander";
import { ClusterError, runLoneProxy } from "#cluster";
import { type DnsFlagOptions, dnsFrom, dnsOptions } from "../options/dns.ts";
import { boolean, milliseconds } from "../options/values.ts";
import { runUntilSignalled } from "../process/run-component.ts";

interface ProxyOptions extends DnsFlagOptions {
  readonly kubeconfig?: string;
  readonly hostnameOverride?: string;
  readonly clusterCidr: readonly string[];
  readonly nodeportAddresses?: readonly string[];
  readonly proxyMode: "nftables" | "iptables";
  readonly networkPolicy: boolean;
  readonly syncPeriod?: number;
  readonly overlay: "auto" | "vxlan" | "none";
  readonly masqueradeOutside?: boolean;
}

export function proxyCommand(): Command {
  const list = (value: string) => value.split(",").map((each) => each.trim());
  const command = new Command("proxy")
    .description("run the network of a node alone: Services, NetworkPolicies, DNS")
    .option("--kubeconfig <file>", "how to reach the API server, and as whom")
    .option("--hostname-override <name>", "the name of the Node, if it is not the machine's")
    .addOption(
      new Option("--cluster-cidr <cidrs>", "addresses of Pods")
        .argParser(list)
        .default(["10.244.0.0/16"], "10.244.0.0/16"),
    )
    .addOption(new Option("--nodeport-addresses <ips>", "where node ports answer; default: the Node's").argParser(list))
    .addOption(
      new Option("--proxy-mode <mode>", "by which the kernel is told of Services")
        .choices(["nftables", "iptables"])
        .default("nftables"),
    )
    .addOption(
      new Option("--network-policy [bool]", "whether NetworkPolicies are enforced")
        .preset("true")
        .argParser(boolean)
        .default(true),
    )
    .addOption(new Option("--sync-period <duration>", "how often everything is told anew").argParser(milliseconds))
    .addOption(
      new Option(
        "--overlay <mode>",
        "how Pods on other nodes are reached: over the link, and by VXLAN where a node is not on it (auto), by VXLAN always, or by ways that others make (none)",
      )
        .choices(["auto", "vxlan", "none"])
        .default("none"),
    )
    .addOption(
      new Option(
        "--masquerade-outside [bool]",
        "whether what Pods send out of the cluster looks as if the node had sent it; default: with an overlay",
      )
        .preset("true")
        .argParser(boolean),
    )
    .action(async (options: ProxyOptions) => {
      const { kubeconfig, clusterDns = [], overlay } = options;
      if (kubeconfig === undefined)
        throw new ClusterError("--kubeconfig is needed: it says how to reach the API server.");
      const config = {
        kubeconfig,
        nodeName: (options.hostnameOverride ?? hostname()).toLowerCase(),
        clusterCidrs: options.clusterCidr,
        proxyMode: options.proxyMode,
        networkPolicy: options.networkPolicy,
        ...(overlay !== "none" && { overlay }),
        masqueradesOutside: options.masqueradeOutside ?? overlay !== "none",
        ...(options.nodeportAddresses !== undefined && { nodePortAddresses: options.nodeportAddresses }),
        ...(options.syncPeriod !== undefined && { resyncMs: options.syncPeriod }),
        ...(clusterDns.length > 0 && { dns: dnsFrom(options, clusterDns) }),
      };
      await runUntilSignalled([], (environment, signal) => runLoneProxy(config, environment, signal));
    });
  for (const option of dnsOptions()) command.addOption(option);
  return command;
}
