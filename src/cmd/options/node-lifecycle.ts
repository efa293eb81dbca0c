/** Flags of kube-controller-manager about nodes: which addresses their Pods get, and how patient the cluster is with nodes that fall silent. */
import { InvalidArgumentError, Option } from "commander";
import { ClusterError, type LoneControllerManagerConfig } from "#cluster";
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
    new Option("--allocate-node-cidrs [bool]", "whether nodes get ranges of addresses for their Pods here")
      .preset("true")
      .argParser(boolean)
      .default(false),
    new Option("--cluster-cidr <cidrs>", "where these ranges are taken from").argParser(list),
    new Option("--service-cluster-ip-range <cidrs>", "addresses of Services, which no node gets").argParser(list),
    new Option("--node-cidr-mask-size <bits>", "how large a range is").argParser(wholeNumber(1, 128)),
    new Option("--node-cidr-mask-size-ipv4 <bits>", "the same, of IPv4").argParser(wholeNumber(1, 32)),
    new Option("--node-cidr-mask-size-ipv6 <bits>", "the same, of IPv6").argParser(wholeNumber(1, 128)),
    new Option(
      "--node-monitor-grace-period <duration>",
      "without a sign of life for so long, a node is unknown",
    ).argParser(milliseconds),
    new Option("--node-startup-grace-period <duration>", "the same for a node that starts").argParser(milliseconds),
    new Option("--node-monitor-period <duration>", "how long failures are gathered").argParser(milliseconds),
    new Option(
      "--node-eviction-rate <nodes>",
      "nodes a second whose Pods are driven out, in a zone that is well",
    ).argParser(positive),
    new Option("--secondary-node-eviction-rate <nodes>", "the same in a large zone that is not").argParser(positive),
    new Option("--large-cluster-size-threshold <nodes>", "from how many nodes on a zone is large").argParser(
      wholeNumber(0, 1_000_000),
    ),
    new Option(
      "--unhealthy-zone-threshold <part>",
      "which part of a zone must be down for it to be disrupted",
    ).argParser(positive),
  ];
}

export function nodeFlagsFrom(
  options: NodeFlagOptions,
): Pick<LoneControllerManagerConfig, "nodeCidrs" | "nodeLifecycle"> {
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

function nodeCidrsFrom(options: NodeFlagOptions): NonNullable<LoneControllerManagerConfig["nodeCidrs"]> {
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
