/** `cidr`, `isCIDR` and functions of networks. */
import { goQuote } from "../../../json/go-text.ts";
import { type Cidr, contains, formatIp } from "../../../names/ip.ts";
import { type Costs, costSize, nominal, sizeRange, traversal, walk } from "../../functions/call-costs.ts";
import { addRanges, costs, type Range, range, scaleRange } from "../../functions/cost.ts";
import { fn, global, type Library, member } from "../../functions/function.ts";
import { bool, int, opaque, string } from "../../values/type.ts";
import { CelError, Opaque, type Outcome } from "../../values/value.ts";
import { IpValue, ipType, toIp } from "./ip.ts";
import { AddressError, isMapped, masked, parsePrefix, sameBytes } from "./netip.ts";

export const cidrType = opaque("net.CIDR");

export class CidrValue extends Opaque {
  override readonly type = cidrType;
  readonly cidr: Cidr;

  constructor(cidr: Cidr) {
    super();
    this.cidr = cidr;
  }

  override equals(other: Opaque): boolean {
    if (!(other instanceof CidrValue)) return false;
    return this.cidr.prefixLength === other.cidr.prefixLength && sameBytes(this.cidr, other.cidr);
  }

  /** The bytes of the prefix, not of the address. */
  override get size(): number {
    return Math.ceil(this.cidr.prefixLength / 8);
  }
}

export const cidr: Library = {
  name: "kubernetes.net.cidr",
  types: [
    { type: cidrType, equality: () => range(1) },
    { type: ipType, equality: () => range(1) },
  ],
  functions: [
    fn("cidr", global("string_to_cidr", [string], cidrType, toCidr, walk())),
    fn(
      "isCIDR",
      global("is_cidr", [string], bool, (text: string) => typeof parsed(text) !== "string", walk()),
    ),
    fn(
      "containsIP",
      member("cidr_contains_ip_string", [cidrType, string], bool, containsIpText, comparison(2, { parses: true })),
      member("cidr_contains_ip_ip", [cidrType, ipType], bool, containsIp, comparison(2)),
    ),
    fn(
      "containsCIDR",
      member("cidr_contains_cidr_string", [cidrType, string], bool, containsCidrText, comparison(3, { parses: true })),
      member("cidr_contains_cidr", [cidrType, cidrType], bool, containsCidr, comparison(3)),
    ),
    fn(
      "ip",
      member("cidr_ip", [cidrType], ipType, ({ cidr }: CidrValue) => new IpValue(cidr), nominal),
    ),
    fn(
      "prefixLength",
      member("cidr_prefix_length", [cidrType], int, ({ cidr }: CidrValue) => BigInt(cidr.prefixLength), nominal),
    ),
    fn(
      "masked",
      member("cidr_masked", [cidrType], cidrType, ({ cidr }: CidrValue) => new CidrValue(masked(cidr)), nominal),
    ),
    fn(
      "string",
      global("cidr_to_string", [cidrType], string, ({ cidr }: CidrValue) => `${formatIp(cidr)}/${cidr.prefixLength}`),
    ),
  ],
};

function toCidr(text: string): CidrValue | CelError {
  const found = parsed(text);
  if (typeof found === "string")
    return new CelError(`network address parse error during conversion from string: ${found}`);
  return new CidrValue(found);
}

/** The network, or the error of an invalid one. */
function parsed(text: string): Cidr | string {
  try {
    const prefix = parsePrefix(text);
    return isMapped(prefix) ? `IPv4-mapped IPv6 address ${goQuote(text)} is not allowed` : prefix;
  } catch (error) {
    if (error instanceof AddressError)
      return `network address parse error during conversion from string: ${error.message}`;
    throw error;
  }
}

function containsIp({ cidr }: CidrValue, { ip }: IpValue): boolean {
  return contains(cidr, ip);
}

function containsIpText(network: CidrValue, text: string): Outcome {
  const other = toIp(text);
  return other instanceof CelError ? other : containsIp(network, other);
}

function containsCidr({ cidr }: CidrValue, other: CidrValue): boolean {
  return cidr.prefixLength <= other.cidr.prefixLength && contains(cidr, other.cidr);
}

function containsCidrText(network: CidrValue, text: string): Outcome {
  const other = toCidr(text);
  return other instanceof CelError ? other : containsCidr(network, other);
}

/** Two traversals of the prefix compare two addresses; a third one and a unit more mask the network. */
function comparison(walks: 2 | 3, { parses = false } = {}): Costs {
  const address: Range = range(4, 16);
  const masking = walks === 3;
  const compared = scaleRange(addRanges(address, address), costs.stringTraversal);
  const base = masking
    ? addRanges(addRanges(compared, scaleRange(address, costs.stringTraversal)), range(1))
    : compared;
  return {
    cost: ([network, other]) => {
      const size = costSize(network);
      return traversal(size, 2) + (masking ? traversal(size) + 1 : 0) + (parses ? traversal(costSize(other)) : 0);
    },
    estimate: ([, other]) => ({
      cost: parses ? addRanges(base, scaleRange(sizeRange(other), costs.stringTraversal)) : base,
    }),
  };
}
