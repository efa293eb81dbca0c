import { expect, it } from "vitest";
import { registryAddress } from "./registry-address.ts";

const names: Record<string, readonly string[]> = {
  "registry.example": ["203.0.113.7"],
  "rebound.example": ["127.0.0.1"],
  "mixed.example": ["10.0.0.1", "203.0.113.8"],
  "mirror.corp": ["192.168.1.5"],
};
const rules = {
  named: async () => [
    { host: "mirror.corp", port: 5001 },
    { host: "127.0.0.1", port: 5002 },
  ],
  resolve: async (host: string) => names[host] ?? [host],
};

it.each([
  ["a registry", "registry.example", 443, "https", "203.0.113.7"],
  ["a registry without TLS", "registry.example", 80, "http", "203.0.113.7"],
  ["the first address that is not private", "mixed.example", 443, "https", "203.0.113.8"],
  ["a private mirror that the user has named", "mirror.corp", 5001, "https", "192.168.1.5"],
  ["one on this machine that the user has named", "127.0.0.1", 5002, "http", "127.0.0.1"],
  ["another port of that mirror", "mirror.corp", 22, "https", "no port of registries"],
  ["a port that registries do not use", "registry.example", 22, "https", "no port of registries"],
  ["a tunnel to a web server", "registry.example", 80, "https", "no port of registries"],
  ["a name that leads to loopback", "rebound.example", 443, "https", "private address"],
  ["loopback by number", "127.0.0.1", 443, "https", "private address"],
  ["loopback of IPv6", "::1", 443, "https", "private address"],
  ["loopback of IPv4 written as IPv6", "::ffff:127.0.0.1", 443, "https", "private address"],
  ["a cloud's metadata", "169.254.169.254", 80, "http", "private address"],
  ["a link-local address", "fe80::1", 443, "https", "private address"],
  ["a private network", "10.1.2.3", 443, "https", "private address"],
  ["a private network of IPv6", "fd00::1", 443, "https", "private address"],
  ["no address at all", "0.0.0.0", 443, "https", "private address"],
] as const)("an image pull from %s", async (_, host, port, scheme, want) => {
  const found = await registryAddress(host, port, scheme, rules);
  expect("address" in found ? found.address : found.refusal).toContain(want);
});
