/** kube-controller-manager's flags about nodes: Pod CIDRs, and the handling of unreachable nodes. */
import { InvalidArgumentError, Option } from "commander";
import { ClusterError, type StandaloneControllerManagerConfig } from "#cluster";
import { boolean, milliseconds, wholeNumber } from "./values.ts";

export interface NodeFlagOptions {
  readonly allocateNodeCidrs: boolean;
  readonly clusterCidr?: readonly string[];
  readonly serviceClusterIpRange?: readonly string[];
  readonly nodeCidrMaskSize?: number;
  readonly nodeCidrMaskSizeIpv4?: number;
  readonly nodeCidrMaskSizeIpv6?: number;
  readonly nodeMonitorGracePeriod?: number;
  readonly nodeStartupGracePeriod?: number;
  readonly nodeMonitorPeriod?: number;
  readonly nodeEvictionRate?: number;
  readonly secondaryNodeEvictionRate?: number;
  readonly largeClusterSizeThreshold?: number;
  readonly unhealthyZoneThreshold?: number;
}

const MASK = { ipv4: 24, ipv6: 64 };

export function nodeFlags(): readonly Option[] {
  const list = (value: string) => value.split(",").map((each) => each.trim());
  return [
    new Option("--allocate-node-cidrs [bool]", "allocate Pod CIDRs for Nodes")
      .preset("true")
      .argParser(boolean)
      .default(false),
    new Option("--cluster-cidr <cidrs>", "Pod IP ranges of the cluster").argParser(list),
    new Option("--service-cluster-ip-range <cidrs>", "Service IP ranges, excluded from allocation").argParser(list),
    new Option("--node-cidr-mask-size <bits>", "prefix length of a Node's Pod CIDR").argParser(wholeNumber(1, 128)),
    new Option("--node-cidr-mask-size-ipv4 <bits>", "prefix length of a Node's IPv4 Pod CIDR").argParser(
      wholeNumber(1, 32),
    ),
    new Option("--node-cidr-mask-size-ipv6 <bits>", "prefix length of a Node's IPv6 Pod CIDR").argParser(
      wholeNumber(1, 128),
    ),
    new Option(
      "--node-monitor-grace-period <duration>",
      "time without a heartbeat after which a Node's Ready condition becomes Unknown",
    ).argParser(milliseconds),
    new Option("--node-startup-grace-period <duration>", "the same for a starting Node").argParser(milliseconds),
    new Option("--node-monitor-period <duration>", "period of node health checks").argParser(milliseconds),
    new Option("--node-eviction-rate <nodes>", "Nodes per second whose Pods are evicted, in a healthy zone").argParser(
      positive,
    ),
    new Option("--secondary-node-eviction-rate <nodes>", "the same in an unhealthy large zone").argParser(positive),
    new Option(
      "--large-cluster-size-threshold <nodes>",
      "number of Nodes from which on a zone counts as large",
    ).argParser(wholeNumber(0, 1_000_000)),
    new Option(
      "--unhealthy-zone-threshold <part>",
      "fraction of unready Nodes from which on a zone counts as unhealthy",
    ).argParser(positive),
  ];
}

export function nodeFlagsFrom(
  options: NodeFlagOptions,
): Pick<StandaloneControllerManagerConfig, "nodeCidrs" | "nodeLifecycle"> {
  const given = {
    monitorGraceMs: options.nodeMonitorGracePeriod,
    startupGraceMs: options.nodeStartupGracePeriod,
    monitorPeriodMs: options.nodeMonitorPeriod,
    evictionsPerSecond: options.nodeEvictionRate,
    secondaryEvictionsPerSecond: options.secondaryNodeEvictionRate,
    largeClusterSize: options.largeClusterSizeThreshold,
    unhealthyZoneThreshold: options.unhealthyZoneThreshold,
  };
  const nodeLifecycle = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { nodeLifecycle, nodeCidrs: options.allocateNodeCidrs ? nodeCidrsFrom(options) : false };
}

function nodeCidrsFrom(options: NodeFlagOptions): NonNullable<StandaloneControllerManagerConfig["nodeCidrs"]> {
  const { clusterCidr: clusterCidrs, serviceClusterIpRange: serviceCidrs = [], nodeCidrMaskSize: size } = options;
  if (clusterCidrs === undefined) throw new ClusterError("--allocate-node-cidrs needs --cluster-cidr.");
  const { nodeCidrMaskSizeIpv4: ipv4, nodeCidrMaskSizeIpv6: ipv6 } = options;
  if (size !== undefined && clusterCidrs.length > 1) {
    throw new ClusterError("--node-cidr-mask-size is for one family: use --node-cidr-mask-size-ipv4 and -ipv6.");
  }
  return {
    clusterCidrs,
    serviceCidrs,
    maskSize: { ipv4: ipv4 ?? size ?? MASK.ipv4, ipv6: ipv6 ?? size ?? MASK.ipv6 },
  };
}

function positive(value: string): number {
  const number = Number(value);
  if (value.trim() === "" || !(number >= 0 && number < Number.POSITIVE_INFINITY)) {
    throw new InvalidArgumentError("It must be a number that is not negative.");
  }
  return number;
}
