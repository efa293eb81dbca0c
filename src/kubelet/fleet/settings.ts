/** The names, addresses, capacities and labels of a fleet's nodes. */
import { canonicalQuantity, type core } from "#api";
import { addressAt, parseRange, partOf, type Range } from "./addresses.ts";

export interface NodeSettings {
  readonly name: string;
  readonly address: string;
  /** The range of Pod addresses until the cluster assigns a podCIDR. */
  readonly podRange: Range;
  /** Quantities by resource. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** When it registers. Default: none. */
  readonly taints?: readonly core.Taint[] | undefined;
  /** A cloud controller manager initializes its Node, as with `kubelet --cloud-provider external`. */
  readonly externalCloud?: boolean | undefined;
}

export interface NodesSpec {
  readonly count: number;
  /** The name of the node with this number, from 1. Default: node-1, node-2, … */
  readonly nameOf?: (number: number) => string;
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
  readonly ephemeralStorage?: string;
  readonly pods?: number | undefined;
  /** Nodes are spread over them in turn. Default: none. */
  readonly zones?: readonly string[] | undefined;
  readonly region?: string;
  readonly instanceType?: string;
  readonly nodeCidr?: string;
  readonly podCidr?: string;
  /** As `kubelet --cloud-provider external`. */
  readonly externalCloud?: boolean;
}

const NODE_CIDR = "172.30.0.0/16";
const POD_CIDR = "10.128.0.0/9";
const MIN_PODS_PART = 256;

/** Throws RangeError if the addresses do not suffice. */
export function nodesOf(spec: NodesSpec): readonly NodeSettings[] {
  const { count, nameOf = (number) => `node-${number}`, zones = [], region, instanceType, pods = 110 } = spec;
  const { cpu = "8", memory = "32Gi", ephemeralStorage = "100Gi" } = spec;
  const nodeRange = rangeOf(spec.nodeCidr ?? NODE_CIDR);
  const podRange = rangeOf(spec.podCidr ?? POD_CIDR);
  if (count + 2 > nodeRange.size) throw new RangeError(`${count} nodes need more addresses than ${spec.nodeCidr} has`);
  const part = Math.max(MIN_PODS_PART, 2 ** Math.ceil(Math.log2(pods + 3)));
  const capacity = {
    cpu: canonicalQuantity(cpu),
    "ephemeral-storage": canonicalQuantity(ephemeralStorage),
    "hugepages-1Gi": "0",
    "hugepages-2Mi": "0",
    memory: canonicalQuantity(memory),
    pods: String(pods),
  };
  return Array.from({ length: count }, (_, at) => {
    const zone = zones[at % Math.max(1, zones.length)];
    return {
      name: nameOf(at + 1),
      address: addressAt(nodeRange, at + 2),
      podRange: partOf(podRange, at, part),
      capacity,
      externalCloud: spec.externalCloud,
      labels: {
        ...(zone !== undefined && { "topology.kubernetes.io/zone": zone }),
        ...(region !== undefined && { "topology.kubernetes.io/region": region }),
        ...(instanceType !== undefined && { "node.kubernetes.io/instance-type": instanceType }),
      },
    };
  });
}

function rangeOf(cidr: string): Range {
  const range = parseRange(cidr);
  if (range === undefined) throw new RangeError(`${cidr} is not an IPv4 range such as 10.128.0.0/9`);
  return range;
}
