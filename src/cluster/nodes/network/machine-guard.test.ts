import { expect, it } from "vitest";
import { siteNetwork } from "../site/site-network.ts";
import { machineGuard } from "./machine-guard.ts";

const ports = { apiServer: 6443, pullProxy: 3128, registries: [] };
const accepted = (script: string) => [...script.matchAll(/^ {4}(ip6? .*) accept$/gm)].map(([, rule]) => rule);

it("lets nodes and Pods reach the API server, and nodes the pull proxy and the user's registries here", () => {
  expect(accepted(machineGuard(siteNetwork(7), ports))).toEqual([
    "ip daddr 10.89.7.1 tcp dport 6443",
    "ip saddr 10.89.7.1/24 ip daddr 10.89.7.1 tcp dport { 3128 }",
  ]);
  const named = { ...ports, dnsRelay: 3153, hostPorts: [{ port: 5432, protocol: "tcp" as const }] };
  expect(accepted(machineGuard(siteNetwork(7), named, true))).toEqual([
    "ip daddr 10.89.7.1 tcp dport 6443",
    "ip daddr 10.89.7.1 tcp dport 5432",
    "ip saddr 10.89.7.1/24 ip daddr 10.89.7.1 tcp dport { 3128, 3153 }",
    "ip saddr 10.89.7.1/24 ip daddr 10.89.7.1 udp dport 3153",
    "ip daddr != 10.89.7.1",
  ]);
  const registries = [
    { host: "10.89.7.1", port: 5000 },
    { host: "registry.example", port: 22 },
  ];
  const both = siteNetwork(7, ["10.244.0.0/16", "fd00:10:244::/56"]);
  expect(accepted(machineGuard(both, { ...ports, registries }))).toEqual([
    "ip daddr 10.89.7.1 tcp dport 6443",
    "ip6 daddr fd6b:3874:7300:7::1 tcp dport 6443",
    "ip saddr 10.89.7.1/24 ip daddr 10.89.7.1 tcp dport { 3128, 5000 }",
  ]);
});
