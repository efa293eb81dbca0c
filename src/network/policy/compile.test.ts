/** Compiled rules let pass exactly what a direct reading of the policies allows. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Labels, networking } from "#api";
import { compilePolicies } from "./compile.ts";
import { PolicyGroups } from "./groups.ts";
import { dnsPod, type PolicyPod } from "./pods.ts";
import { NO_RULES, policyChanges, snapshotOf } from "./script.ts";
import { allows, type Packet, passes } from "./testing/model.ts";

const NAMESPACES = new Map<string, Labels>([
  ["one", { team: "red" }],
  ["two", { team: "blue" }],
  ["kube-system", { "kubernetes.io/metadata.name": "kube-system" }],
]);

const DNS = "10.96.0.10";
const OTHERS: readonly PolicyPod[] = ["one", "two"].flatMap((namespace, space) =>
  ["front", "back", "data"].map((app, at) => ({
    key: `${namespace}/${app}`,
    namespace,
    labels: { app },
    addresses: [`10.244.${space}.${at + 1}`],
    ports: [{ name: "web", protocol: "TCP", port: 8000 + at }],
    nodeName: "n1",
  })),
);
const PODS = [...OTHERS, dnsPod([DNS])];
const ADDRESSES = [...PODS.flatMap(({ addresses }) => addresses), "192.0.2.1", "10.244.9.9"];

function policy(name: string, namespace: string, spec: networking.NetworkPolicySpec): networking.NetworkPolicy {
  return { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name, namespace }, spec };
}

function compiled(policies: readonly networking.NetworkPolicy[], pods = PODS) {
  const groups = new PolicyGroups();
  groups.setNamespaces(NAMESPACES);
  for (const pod of pods) groups.put(pod.key, pod);
  return snapshotOf(compilePolicies(policies, groups, "n1", "IPv4"), "IPv4");
}

const app = (name: string) => ({ matchLabels: { app: name } });
const packet = (from: string, to: string, port: number, protocol: Packet["protocol"] = "tcp"): Packet => ({
  from,
  to,
  port,
  protocol,
});
const [FRONT, BACK, DATA] = ["10.244.0.1", "10.244.0.2", "10.244.0.3"];

describe("policies", () => {
  const database = policy("database", "one", {
    podSelector: app("data"),
    policyTypes: ["Ingress"],
    ingress: [{ from: [{ podSelector: app("back") }], ports: [{ port: 5432, protocol: "TCP" }] }],
  });
  const dnsOnly = policy("dns", "one", {
    podSelector: app("front"),
    policyTypes: ["Egress"],
    egress: [{ ports: [{ port: 53, protocol: "UDP" }] }],
  });
  const SYSTEM = { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } };
  const toDns = (egress: networking.NetworkPolicyEgressRule[]) =>
    policy("names", "one", { podSelector: app("front"), policyTypes: ["Egress"], egress });
  it.each<[string, networking.NetworkPolicy[], Packet, boolean]>([
    ["without any everything passes", [], packet(FRONT, DATA, 1), true],
    ["let in whom they name", [database], packet(BACK, DATA, 5432), true],
    ["to the ports that they name", [database], packet(BACK, DATA, 80), false],
    ["by the protocol that they name", [database], packet(BACK, DATA, 5432, "udp"), false],
    ["and nobody else", [database], packet(FRONT, DATA, 5432), false],
    ["of the same Namespace", [database], packet("10.244.1.2", DATA, 5432), false],
    ["and leave other Pods alone", [database], packet(FRONT, BACK, 1), true],
    ["let out to what they name", [dnsOnly], packet(FRONT, BACK, 53, "udp"), true],
    ["and to nothing else", [dnsOnly], packet(FRONT, BACK, 53), false],
    [
      "deny by default where they have no rules",
      [policy("deny", "one", { podSelector: {} })],
      packet(FRONT, BACK, 1),
      false,
    ],
    ["never keep a Pod from itself", [policy("deny", "one", { podSelector: {} })], packet(FRONT, FRONT, 1), true],
    [
      "allow everything by an empty rule",
      [policy("all", "one", { podSelector: {}, ingress: [{}] })],
      packet(FRONT, BACK, 1),
      true,
    ],
    ["add up", [database, policy("all", "one", { podSelector: {}, ingress: [{}] })], packet(FRONT, DATA, 1), true],
    [
      "know blocks of addresses, and what is left out of them",
      [
        policy("block", "one", {
          podSelector: {},
          ingress: [{ from: [{ ipBlock: { cidr: "192.0.2.0/24", except: ["192.0.2.0/28"] } }] }],
        }),
      ],
      packet("192.0.2.1", BACK, 1),
      false,
    ],
    [
      "know ranges of ports",
      [policy("range", "one", { podSelector: {}, ingress: [{ ports: [{ port: 1000, endPort: 2000 }] }] })],
      packet(FRONT, BACK, 1500),
      true,
    ],
    [
      "know ports by the name that the receiver has for them",
      [
        policy("named", "one", {
          podSelector: app("front"),
          policyTypes: ["Egress"],
          egress: [{ to: [{ podSelector: {} }], ports: [{ port: "web" }] }],
        }),
      ],
      packet(FRONT, DATA, 8002),
      true,
    ],
    ["keep from the node's own DNS, too", [toDns([])], packet(FRONT, DNS, 53, "udp"), false],
    ["let names be asked for by the port", [dnsOnly], packet(FRONT, DNS, 53, "udp"), true],
    ["by the Namespace", [toDns([{ to: [{ namespaceSelector: SYSTEM }] }])], packet(FRONT, DNS, 53, "udp"), true],
    [
      "by the label that such Pods have",
      [toDns([{ to: [{ namespaceSelector: {}, podSelector: { matchLabels: { "k8s-app": "kube-dns" } } }] }])],
      packet(FRONT, DNS, 53),
      true,
    ],
    [
      "by the port's name",
      [toDns([{ ports: [{ port: "dns", protocol: "UDP" }] }])],
      packet(FRONT, DNS, 53, "udp"),
      true,
    ],
    ["by the address", [toDns([{ to: [{ ipBlock: { cidr: "10.96.0.0/12" } }] }])], packet(FRONT, DNS, 53, "udp"), true],
    ["not by other Pods", [toDns([{ to: [{ podSelector: {} }] }])], packet(FRONT, DNS, 53, "udp"), false],
  ])("%s", (_, policies, given, want) => {
    expect(passes(compiled(policies), given)).toBe(want);
    expect(allows(policies, PODS, NAMESPACES, given)).toBe(want);
  });
});

const selector = fc.constantFrom({}, app("front"), app("back"), app("data"));
const peer: fc.Arbitrary<networking.NetworkPolicyPeer> = fc.oneof(
  selector.map((podSelector) => ({ podSelector })),
  fc.constantFrom("red", "blue").map((team) => ({ namespaceSelector: { matchLabels: { team } } })),
  selector.map((podSelector) => ({ podSelector, namespaceSelector: {} })),
  fc.constantFrom(
    { ipBlock: { cidr: "10.244.0.0/16", except: ["10.244.1.0/24"] } },
    { ipBlock: { cidr: "192.0.2.1/32" } },
  ),
);
const port: fc.Arbitrary<networking.NetworkPolicyPort> = fc.constantFrom<networking.NetworkPolicyPort>(
  { port: 80, protocol: "TCP" },
  { port: 8000, endPort: 8001 },
  { port: "web", protocol: "TCP" },
  { port: "ghost" },
  { protocol: "UDP" },
  { port: 53, protocol: "UDP" },
);
const some = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 2 });
const anyPolicy = fc
  .record({
    namespace: fc.constantFrom("one", "two"),
    podSelector: selector,
    policyTypes: fc.constantFrom<networking.NetworkPolicySpec["policyTypes"]>(
      ["Ingress"],
      ["Egress"],
      ["Ingress", "Egress"],
    ),
    ingress: some(fc.record({ from: some(peer), ports: some(port) })),
    egress: some(fc.record({ to: some(peer), ports: some(port) })),
  })
  .map(({ namespace, ...spec }) => ({ namespace, spec: spec as networking.NetworkPolicySpec }));
const anyPacket = fc.record({
  from: fc.constantFrom(...ADDRESSES),
  to: fc.constantFrom(...ADDRESSES),
  protocol: fc.constantFrom<Packet["protocol"]>("tcp", "udp"),
  port: fc.constantFrom(53, 80, 8000, 8001, 8002),
});

describe("any policies", () => {
  it("do what a direct reading says", () => {
    fc.assert(
      fc.property(
        fc.array(anyPolicy, { maxLength: 4 }),
        fc.array(anyPacket, { minLength: 10, maxLength: 30 }),
        (made, packets) => {
          const policies = made.map(({ namespace, spec }, at) => policy(`p${at}`, namespace, spec));
          const rules = compiled(policies);
          for (const each of packets)
            expect([each, passes(rules, each)]).toEqual([each, allows(policies, PODS, NAMESPACES, each)]);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("are reached by changes as from nothing", () => {
    const before = compiled([
      policy("a", "one", { podSelector: {}, ingress: [{ from: [{ podSelector: app("front") }] }] }),
    ]);
    expect(policyChanges("IPv4", before, before)).toBe("");
    const after = compiled([]);
    const undone = policyChanges("IPv4", before, after).split("\n");
    expect(undone.filter((line) => line.startsWith("delete chain") || line.startsWith("delete set"))).toHaveLength(2);
    expect(policyChanges("IPv4", NO_RULES, after)).toContain("add element ip k8ts-policy own");
  });
});
