/** What a Service cannot take over by its externalIPs or its load balancer. */
import { describe, expect, it } from "vitest";
import type { core, discovery } from "#api";
import { type Listener, listenersIn, type ProtectedFacts, refusalOf } from "./protected-addresses.ts";

const node: core.Node = {
  metadata: { name: "n1" },
  status: {
    addresses: [{ type: "InternalIP", address: "172.18.0.2" }],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
  },
};
const apiServer: discovery.EndpointSlice = {
  metadata: { name: "kubernetes" },
  addressType: "IPv4",
  endpoints: [{ addresses: ["172.18.0.1"] }],
};
const listeners: Listener[] = [
  { protocol: "tcp", address: "::", port: 22 },
  { protocol: "tcp", address: "127.0.0.1", port: 8080 },
  { protocol: "udp", address: "172.18.0.2", port: 123 },
];
const facts: ProtectedFacts = {
  serviceCidrs: ["10.96.0.0/12", "fd00:96::/112"],
  podCidrs: ["10.244.0.0/16"],
  apiServers: [apiServer],
  node,
  nodeAddresses: ["fd00:18::2"],
  listeners: () => listeners,
};

describe("a Service's address from outside", () => {
  it.each([
    ["the kubelet's port of this node", "172.18.0.2", "tcp", 10250, "port 10250/tcp of this node is in use"],
    [
      "a port that a program listens on at every address",
      "172.18.0.2",
      "tcp",
      22,
      "port 22/tcp of this node is in use",
    ],
    [
      "a port that a program listens on at this address",
      "172.18.0.2",
      "udp",
      123,
      "port 123/udp of this node is in use",
    ],
    ["another spelling of this node's address", "fd00:18:0::2", "tcp", 22, "port 22/tcp of this node is in use"],
    ["the same port of another protocol", "172.18.0.2", "tcp", 123, undefined],
    ["a port that is used on loopback only", "172.18.0.2", "tcp", 8080, undefined],
    ["a free port of this node", "172.18.0.2", "tcp", 80, undefined],
    ["an address of another Service", "10.96.0.1", "tcp", 443, "it is in the Service range 10.96.0.0/12"],
    ["an address of another Service, of IPv6", "fd00:96::1", "tcp", 443, "it is in the Service range fd00:96::/112"],
    ["an address of a Pod", "10.244.3.4", "tcp", 80, "it is in the Pod range 10.244.0.0/16"],
    ["an address of the API server", "172.18.0.1", "tcp", 3128, "it is an address of the API server"],
    ["any other address", "192.0.2.1", "tcp", 10250, undefined],
  ] as const)("%s", (_, address, protocol, port, want) => {
    expect(refusalOf({ address, protocol, port }, facts)).toBe(want);
  });

  it("may be a port of the API server's own node that nobody uses", () => {
    const both = { ...facts, nodeAddresses: ["172.18.0.1"] };
    expect(refusalOf({ address: "172.18.0.1", protocol: "tcp", port: 80 }, both)).toBeUndefined();
    expect(refusalOf({ address: "172.18.0.1", protocol: "tcp", port: 22 }, both)).toBeDefined();
  });
});

it("sockets that listen are read as the kernel writes them", () => {
  const text = `  sl  local_address rem_address   st tx_queue
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000
   1: 020012AC:280A 00000000:0000 0A 00000000:00000000
   2: 020012AC:280A 010012AC:9C40 01 00000000:00000000
`;
  const six = `  sl  local_address
   0: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000
`;
  expect(listenersIn("tcp", text)).toEqual([
    { protocol: "tcp", address: "127.0.0.1", port: 8080 },
    { protocol: "tcp", address: "172.18.0.2", port: 10250 },
  ]);
  expect(listenersIn("tcp", six)).toEqual([{ protocol: "tcp", address: "::", port: 22 }]);
});
