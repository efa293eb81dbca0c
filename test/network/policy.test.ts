/** NetworkPolicies on a node, as real connections find them: tried before, while and after they are there. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { networking } from "#api";
import { silentLogger } from "#base";
import { type Program, runProgram } from "../../src/network/kernel/program.ts";
import { compilePolicies } from "../../src/network/policy/compile.ts";
import { PolicyGroups } from "../../src/network/policy/groups.ts";
import { dnsPod } from "../../src/network/policy/pods.ts";
import { PolicyTable } from "../../src/network/policy/run-policy.ts";
import { snapshotOf } from "../../src/network/policy/script.ts";
import { Nftables } from "../../src/network/proxy/nftables/apply.ts";
import { canMakeNamespaces, connections, datagram, echoServer, TestNetwork } from "./namespaces.ts";

const signal = new AbortController().signal;
const network = new TestNetwork(`kq${process.pid % 10_000}`);
const run: Program = (command, args, input, aborting) =>
  runProgram("nsenter", [`--net=/run/netns/${network.name("node")}`, command, ...args], input, aborting);
/** Where the node itself answers. */
const NODE_DNS = "10.96.0.10";
const PODS = { front: "10.244.0.1", back: "10.244.0.2", data: "10.244.0.3" };

function policy(name: string, spec: networking.NetworkPolicySpec): networking.NetworkPolicy {
  return { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name, namespace: "default" }, spec };
}
const app = (name: string) => ({ matchLabels: { app: name } });

const DATABASE = policy("database", {
  podSelector: app("data"),
  policyTypes: ["Ingress"],
  ingress: [{ from: [{ podSelector: app("back") }], ports: [{ port: 5432, protocol: "TCP" }] }],
});
const DNS_ONLY = policy("front", {
  podSelector: app("front"),
  policyTypes: ["Egress"],
  egress: [{ ports: [{ port: 53, protocol: "UDP" }] }],
});

describe.skipIf(!canMakeNamespaces())("NetworkPolicies by nftables", () => {
  const groups = new PolicyGroups();
  const table = new PolicyTable("IPv4", { run, log: silentLogger, nodeDns: [NODE_DNS] });
  const enforce = (...policies: networking.NetworkPolicy[]) =>
    table.apply(snapshotOf(compilePolicies(policies, groups, "n1", "IPv4"), "IPv4"), false, signal);
  const tcp = async (from: string, to: string, port: number) => {
    const [said = ""] = Object.keys(await network.ask<Record<string, number>>(from, connections(to, port, 1)));
    return said.split(" ")[0];
  };

  beforeAll(async () => {
    await network.addNode("node");
    await network.in("node", "ip", "addr", "add", `${NODE_DNS}/32`, "dev", "lo");
    await network.start("node", echoServer("node", 53));
    groups.setNamespaces(
      new Map([
        ["default", {}],
        ["kube-system", { "kubernetes.io/metadata.name": "kube-system" }],
      ]),
    );
    for (const [name, address] of Object.entries(PODS)) {
      await network.addHost(name, "node", address);
      await network.start(name, echoServer(name, 5432));
      groups.put(name, {
        key: name,
        namespace: "default",
        labels: { app: name },
        addresses: [address],
        ports: [],
        nodeName: "n1",
      });
    }
    await network.start("data", echoServer("data", 53));
    const services = new Nftables({ families: ["IPv4"], podCidrs: ["10.244.0.0/16"], run, log: silentLogger });
    const endpoints = [{ address: PODS.data, port: 5432, isLocal: true }];
    const vip = { family: "IPv4", address: "10.96.0.1", protocol: "tcp", port: 80, endpoints } as const;
    await services.apply(new Map([["data", [{ ...vip, masquerade: "outsiders", whenEmpty: "reject" }]]]), signal);
  });
  afterAll(() => network[Symbol.asyncDispose]());

  it("are not there: everybody reaches everybody", async () => {
    await enforce();
    expect(await Promise.all([tcp("front", PODS.data, 5432), tcp("back", PODS.data, 5432)])).toEqual(["data", "data"]);
  });

  it("are there: whom they name passes, also through a Service, and nobody else", async () => {
    await enforce(DATABASE, DNS_ONLY);
    expect(
      await Promise.all([
        tcp("back", PODS.data, 5432),
        tcp("back", "10.96.0.1", 80),
        tcp("back", PODS.data, 53),
        tcp("front", PODS.data, 5432),
        tcp("front", "10.96.0.1", 80),
        tcp("front", PODS.back, 5432),
        tcp("node", PODS.data, 5432),
      ]),
    ).toEqual(["data", "data", "ETIMEDOUT", "ETIMEDOUT", "ETIMEDOUT", "ETIMEDOUT", "data"]);
  });

  it("let the names be asked for, where only that is allowed", async () => {
    await enforce(DNS_ONLY);
    expect(await network.ask("front", datagram(PODS.data, 53, 5300))).toBe(`data ${PODS.front}`);
  });

  it("keep from names that the node itself knows, unless they allow it; never from the node's other ports", async () => {
    const ask = () => network.ask("front", datagram(NODE_DNS, 53, 5301));
    const all = { podSelector: app("front"), policyTypes: ["Egress"] } as const;
    await enforce(policy("nothing", all));
    expect(await ask()).toBe("none");
    expect(await tcp("front", "169.254.1.1", 53)).toBe("node");
    groups.put("node:dns", dnsPod([NODE_DNS]));
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } };
    await enforce(policy("names", { ...all, egress: [{ to: [{ namespaceSelector }] }] }));
    expect(await ask()).toBe(`node ${PODS.front}`);
    expect(await tcp("front", PODS.data, 5432)).toBe("ETIMEDOUT");
  });

  it("follow a Pod that becomes another one", async () => {
    await enforce(DATABASE);
    expect(await tcp("front", PODS.data, 5432)).toBe("ETIMEDOUT");
    groups.put("front", {
      key: "front",
      namespace: "default",
      labels: { app: "back" },
      addresses: [PODS.front],
      ports: [],
      nodeName: "n1",
    });
    await enforce(DATABASE);
    expect(await tcp("front", PODS.data, 5432)).toBe("data");
  });

  it("are gone: everybody reaches everybody", async () => {
    await enforce();
    expect(await tcp("front", PODS.data, 5432)).toBe("data");
    expect(await run("nft", ["list", "table", "ip", "k8ts-policy"], "", signal)).not.toContain("drop");
  });
});
