/** IPv4 and IPv6, and what nftables calls them. */
export type Family = "IPv4" | "IPv6";

export function familyOf(addressOrCidr: string): Family {
  return addressOrCidr.includes(":") ? "IPv6" : "IPv4";
}

export interface NftNames {
  readonly family: "ip" | "ip6";
  readonly address: "ipv4_addr" | "ipv6_addr";
}

export function nftNames(family: Family): NftNames {
  return family === "IPv4" ? { family: "ip", address: "ipv4_addr" } : { family: "ip6", address: "ipv6_addr" };
}
