/**
 * Where the pull proxy connects to: resolves a registry's name once, and chooses an address that is a registry's.
 *
 * 1. Never the machine's own addresses, nor loopback, link-local, private or reserved ones, by name or by number; and
 *    ports of registries only. What the user has named in certs.d is allowed as it is.
 * 2. The checked address is the one to connect to: a name that resolves differently later gains nothing.
 */
import { lookup } from "node:dns/promises";
import { BlockList, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import type { NamedRegistry } from "../site/mirrors.ts";

export interface RegistryRules {
  /** Registries that the user has named. */
  named(): Promise<readonly NamedRegistry[]>;
  /** Addresses of a name. Default: the machine's resolver. */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined;
}

export type RegistryAddress = { readonly address: string } | { readonly refusal: string };

const PORTS = { https: [443, 5000], http: [80, 5000] } as const;

const RESERVED: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
  ["::", 127],
  ["64:ff9b::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
];

/** `host`: without brackets. Throws what the resolver throws. */
export async function registryAddress(
  host: string,
  port: number,
  scheme: keyof typeof PORTS,
  { named, resolve = byMachine }: RegistryRules,
): Promise<RegistryAddress> {
  const isNamed = (await named()).some((each) => each.host === host && each.port === port);
  if (!isNamed && !PORTS[scheme].some((each) => each === port)) {
    return {
      refusal: `port ${port} is no port of registries (name ${host}:${port} in registries.yaml or certs.d to allow it)`,
    };
  }
  const addresses = await resolve(host);
  const blocked = blockedNow();
  const address = addresses.find((each) => isNamed || !blocked.check(each, isIPv6(each) ? "ipv6" : "ipv4"));
  if (address !== undefined) return { address };
  return { refusal: `${host} is a private address (name ${host}:${port} in registries.yaml or certs.d to allow it)` };
}

function blockedNow(): BlockList {
  const blocked = new BlockList();
  const family = (address: string) => (isIPv6(address) ? "ipv6" : "ipv4");
  for (const [address, length] of RESERVED) blocked.addSubnet(address, length, family(address));
  for (const { address } of Object.values(networkInterfaces()).flatMap((each) => each ?? [])) {
    blocked.addAddress(address.replace(/%.*/, ""), family(address));
  }
  return blocked;
}

async function byMachine(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
