/** What each field of a Service does to its traffic, as the documentation has it. */
import { describe, expect, it } from "vitest";
import type { core, discovery } from "#api";
import type { NodeFacts } from "./endpoints.ts";
import { type VirtualAddress, virtualAddresses } from "./virtual-addresses.ts";

const NODE: NodeFacts = { name: "n1", zone: "a", addresses: ["172.18.0.2", "fd00::2"], podCidrs: ["10.244.0.0/16"] };

function service(spec: core.ServiceSpec, status: core.ServiceStatus = {}): core.Service {
  const ports: core.ServicePort[] = [{ name: "http", port: 80, protocol: "TCP", nodePort: 30080 }];
  const base = { clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.1"], ports };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default" },
    spec: { ...base, ...spec },
    status,
  };
}

function endpoint(last: number, nodeName: string, more: Partial<discovery.Endpoint> = {}): discovery.Endpoint {
  return { addresses: [`10.244.0.${last}`], nodeName, conditions: { ready: true }, ...more };
}

function slice(...endpoints: discovery.Endpoint[]): discovery.EndpointSlice {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "s", namespace: "default" },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    endpoints,
  };
}

const ending = { conditions: { ready: false, serving: true, terminating: true } };
const zone = (name: string) => ({ hints: { forZones: [{ name }] } });
const node = (name: string, ofZone: string) => ({ hints: { forZones: [{ name: ofZone }], forNodes: [{ name }] } });

/** `10.96.0.1:80 → 1 2`: by the last part of their addresses. */
function textOf({ address, port, endpoints, endpointsFromInside, masquerade, whenEmpty }: VirtualAddress): string {
  const lasts = (all: VirtualAddress["endpoints"]) => all.map((each) => each.address.split(".").at(-1)).join(" ");
  const inside = endpointsFromInside === undefined ? "" : ` (inside ${lasts(endpointsFromInside)})`;
  return `${address}:${port} → ${endpoints.length === 0 ? whenEmpty : lasts(endpoints)}${inside} ${masquerade}`;
}

describe("where a Service's traffic goes", () => {
  const two = [slice(endpoint(1, "n1"), endpoint(2, "n2"))];
  it.each<[string, core.Service, discovery.EndpointSlice[], string[]]>([
    ["to all that are ready", service({}), two, ["10.96.0.1:80 → 1 2 outsiders", "172.18.0.2:30080 → 1 2 everybody"]],
    [
      "is rejected where there is nobody",
      service({}),
      [],
      ["10.96.0.1:80 → reject outsiders", "172.18.0.2:30080 → reject everybody"],
    ],
    [
      "to those that end only where none is ready",
      service({}),
      [slice(endpoint(1, "n1", ending), endpoint(2, "n2", ending))],
      ["10.96.0.1:80 → 1 2 outsiders", "172.18.0.2:30080 → 1 2 everybody"],
    ],
    [
      "not to those that are not ready",
      service({}),
      [slice(endpoint(1, "n1", { conditions: { ready: false } }), endpoint(2, "n2"))],
      ["10.96.0.1:80 → 2 outsiders", "172.18.0.2:30080 → 2 everybody"],
    ],
    [
      "internalTrafficPolicy: Local",
      service({ internalTrafficPolicy: "Local" }),
      two,
      ["10.96.0.1:80 → 1 outsiders", "172.18.0.2:30080 → 1 2 everybody"],
    ],
    [
      "internalTrafficPolicy: Local without any here",
      service({ internalTrafficPolicy: "Local" }),
      [slice(endpoint(2, "n2"))],
      ["10.96.0.1:80 → drop outsiders", "172.18.0.2:30080 → 2 everybody"],
    ],
    [
      "externalTrafficPolicy: Local keeps the client's address",
      service({ externalTrafficPolicy: "Local" }),
      two,
      ["10.96.0.1:80 → 1 2 outsiders", "172.18.0.2:30080 → 1 (inside 1 2) nobody"],
    ],
    [
      "externalTrafficPolicy: Local without any here",
      service({ externalTrafficPolicy: "Local" }),
      [slice(endpoint(2, "n2"))],
      ["10.96.0.1:80 → 2 outsiders", "172.18.0.2:30080 → drop (inside 2) nobody"],
    ],
    [
      "hints for this zone",
      service({}),
      [slice(endpoint(1, "n1", zone("a")), endpoint(2, "n2", zone("b")))],
      ["10.96.0.1:80 → 1 outsiders", "172.18.0.2:30080 → 1 everybody"],
    ],
    [
      "hints for this node",
      service({}),
      [slice(endpoint(1, "n1", node("n1", "a")), endpoint(2, "n2", node("n2", "a")))],
      ["10.96.0.1:80 → 1 outsiders", "172.18.0.2:30080 → 1 everybody"],
    ],
    [
      "hints for other nodes: those of the zone",
      service({}),
      [slice(endpoint(2, "n2", node("n2", "a")), endpoint(3, "n3", node("n3", "b")))],
      ["10.96.0.1:80 → 2 outsiders", "172.18.0.2:30080 → 2 everybody"],
    ],
    [
      "hints that leave nobody",
      service({}),
      [slice(endpoint(1, "n1", zone("c")), endpoint(2, "n2", zone("b")))],
      ["10.96.0.1:80 → 1 2 outsiders", "172.18.0.2:30080 → 1 2 everybody"],
    ],
    [
      "hints on some only",
      service({}),
      [slice(endpoint(1, "n1", zone("a")), endpoint(2, "n2"))],
      ["10.96.0.1:80 → 1 2 outsiders", "172.18.0.2:30080 → 1 2 everybody"],
    ],
    [
      "one that is in two slices counts once",
      service({}),
      [slice(endpoint(1, "n1")), slice(endpoint(1, "n1"))],
      ["10.96.0.1:80 → 1 outsiders", "172.18.0.2:30080 → 1 everybody"],
    ],
    [
      "external addresses and load balancers",
      service(
        { externalIPs: ["192.0.2.1"] },
        { loadBalancer: { ingress: [{ ip: "192.0.2.2" }, { hostname: "x" }, { ip: "192.0.2.3", ipMode: "Proxy" }] } },
      ),
      two,
      [
        "10.96.0.1:80 → 1 2 outsiders",
        "192.0.2.1:80 → 1 2 everybody",
        "192.0.2.2:80 → 1 2 everybody",
        "172.18.0.2:30080 → 1 2 everybody",
      ],
    ],
    ["headless: nothing to do", service({ clusterIP: "None", clusterIPs: ["None"] }), two, []],
    ["ExternalName: nothing to do", service({ type: "ExternalName", externalName: "x" }), two, []],
  ])("%s", (_, given, slices, want) => {
    expect(virtualAddresses(given, slices, NODE).map(textOf)).toEqual(want);
  });

  it("not to external and load balancer addresses that are refused", () => {
    const given = service(
      { externalIPs: ["172.18.0.2", "192.0.2.1"] },
      { loadBalancer: { ingress: [{ ip: "172.18.0.2" }] } },
    );
    const claims: string[] = [];
    const found = virtualAddresses(given, two, NODE, ({ address, protocol, port }) => {
      claims.push(`${address} ${protocol} ${port}`);
      return address === "172.18.0.2";
    });
    expect(found.map(({ address, port }) => `${address}:${port}`)).toEqual([
      "10.96.0.1:80",
      "192.0.2.1:80",
      "172.18.0.2:30080",
    ]);
    expect(claims.sort()).toEqual(["172.18.0.2 tcp 80", "172.18.0.2 tcp 80", "192.0.2.1 tcp 80"]);
  });

  it("both families, each with its own endpoints", () => {
    const six: discovery.EndpointSlice = {
      ...slice({ ...endpoint(1, "n1"), addresses: ["fd01::1"] }),
      addressType: "IPv6",
    };
    const given = service({ clusterIPs: ["10.96.0.1", "fd00::1"] });
    const addresses = virtualAddresses(given, [slice(endpoint(1, "n1")), six], NODE);
    expect(addresses.map(({ address, endpoints }) => [address, endpoints[0]?.address])).toEqual([
      ["10.96.0.1", "10.244.0.1"],
      ["172.18.0.2", "10.244.0.1"],
      ["fd00::1", "fd01::1"],
      ["fd00::2", "fd01::1"],
    ]);
  });

  it("affinity and source ranges", () => {
    const given = service(
      {
        sessionAffinity: "ClientIP",
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 7 } },
        loadBalancerSourceRanges: [" 198.51.100.0/24", "fd99::/64"],
      },
      { loadBalancer: { ingress: [{ ip: "192.0.2.2" }] } },
    );
    expect(
      virtualAddresses(given, two, NODE).map(({ affinitySeconds, sourceRanges }) => [affinitySeconds, sourceRanges]),
    ).toEqual([
      [7, undefined],
      [7, ["198.51.100.0/24"]],
      [7, undefined],
    ]);
  });
});
