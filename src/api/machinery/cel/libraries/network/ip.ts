/** `ip`, `isIP` and functions of addresses. */

import { goQuote } from "../../../json/go-text.ts";
import { formatIp, type Ip } from "../../../names/ip.ts";
import { nominal, walk } from "../../functions/call-costs.ts";
import { range } from "../../functions/cost.ts";
import { fn, global, type Library, member } from "../../functions/function.ts";
import { bool, int, opaque, string } from "../../values/type.ts";
import { CelError, Opaque, type Outcome } from "../../values/value.ts";
import {
  AddressError,
  isGlobalUnicast,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isMapped,
  isUnspecified,
  parseAddress,
  sameBytes,
} from "./netip.ts";

export const ipType = opaque("net.IP");

export class IpValue extends Opaque {
  override readonly type = ipType;
  readonly ip: Ip;

  constructor(ip: Ip) {
    super();
    this.ip = ip;
  }

  override equals(other: Opaque): boolean {
    return other instanceof IpValue && sameBytes(this.ip, other.ip);
  }

  override get size(): number {
    return this.ip.bytes.length;
  }
}

export const ip: Library = {
  name: "kubernetes.net.ip",
  types: [{ type: ipType, equality: () => range(1) }],
  functions: [
    fn("ip", global("string_to_ip", [string], ipType, toIp, walk())),
    fn(
      "isIP",
      global("is_ip", [string], bool, (text: string) => !(toIp(text) instanceof CelError), walk()),
    ),
    fn("ip.isCanonical", global("ip_is_canonical", [string], bool, isCanonical, walk({ times: 2 }))),
    fn(
      "family",
      member("ip_family", [ipType], int, ({ ip }: IpValue) => (ip.bytes.length === 4 ? 4n : 6n), nominal),
    ),
    trait("isUnspecified", "ip_is_unspecified", isUnspecified),
    trait("isLoopback", "ip_is_loopback", isLoopback),
    trait("isLinkLocalMulticast", "ip_is_link_local_multicast", isLinkLocalMulticast),
    trait("isLinkLocalUnicast", "ip_is_link_local_unicast", isLinkLocalUnicast),
    trait("isGlobalUnicast", "ip_is_global_unicast", isGlobalUnicast),
    fn(
      "string",
      global("ip_to_string", [ipType], string, ({ ip }: IpValue) => formatIp(ip)),
    ),
  ],
};

export function toIp(text: string): IpValue | CelError {
  try {
    const address = parseAddress(text);
    if (address.zone !== "") return new CelError(`IP address ${goQuote(text)} with zone value is not allowed`);
    if (isMapped(address)) return new CelError(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
    return new IpValue(address);
  } catch (error) {
    if (error instanceof AddressError)
      return new CelError(`IP Address ${goQuote(text)} parse error during conversion from string: ${error.message}`);
    throw error;
  }
}

function isCanonical(text: string): Outcome {
  const value = toIp(text);
  return value instanceof CelError ? value : formatIp(value.ip) === text;
}

function trait(name: string, id: string, has: (ip: Ip) => boolean) {
  return fn(
    name,
    member(id, [ipType], bool, ({ ip }: IpValue) => has(ip), nominal),
  );
}
