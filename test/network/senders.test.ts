/** Pods that forge the sender of their packets: raw sockets send what a Pod with NET_RAW could. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { networking } from "#api";
import { silentLogger } from "#base";
import { type Program, runProgram } from "../../src/network/kernel/program.ts";
import { compilePolicies } from "../../src/network/policy/compile.ts";
import { PolicyGroups } from "../../src/network/policy/groups.ts";
import { PolicyTable } from "../../src/network/policy/run-policy.ts";
import { snapshotOf } from "../../src/network/policy/script.ts";
import { arpSenderScript, senderRules } from "../../src/network/policy/senders.ts";
import { canMakeNamespaces, connections, echoServer, TestNetwork } from "./namespaces.ts";

const signal = new AbortController().signal;
const prefix = `ks${process.pid % 1000}`;
const network = new TestNetwork(prefix);
const run: Program = (command, args, input, aborting) =>
  runProgram("nsenter", [`--net=/run/netns/${network.name("node")}`, command, ...args], input, aborting);

const PODS = { good: 1, evil: 2, data: 3, other: 4 } as const;
type PodName = keyof typeof PODS;
const ip4 = (name: PodName) => `10.244.0.${PODS[name]}`;
const ip6 = (name: PodName) => `fd00:244::${PODS[name]}`;
/** Pods may reach each other here only if they are good. */
const ONLY_GOOD: networking.NetworkPolicy = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "data", namespace: "default" },
  spec: {
    podSelector: { matchLabels: { app: "data" } },
    policyTypes: ["Ingress"],
    ingress: [{ from: [{ podSelector: { matchLabels: { app: "good" } } }] }],
  },
};
/** Every packet that a program of a Pod's has received, by what it says. */
const RECEIVER = `
  const dgram = require("node:dgram"), fs = require("node:fs");
  const seen = [];
  const two = ["udp4", "udp6"].map((type) => dgram.createSocket({ type, ipv6Only: type === "udp6" }));
  for (const each of two) each.on("message", (text) => seen.push(String(text)));
  two[0].bind(7000, "0.0.0.0", () => two[1].bind(7000, "::", () => {
    require("node:http").createServer((_, response) => response.end(JSON.stringify(seen))).listen(7001, "0.0.0.0",
      () => console.log("ready"));
  }));`;

/** Frames by Python, for Node has no raw sockets. `mac` is the sender's own, `gate` the node's. */
const SENDER = `
import socket, struct, sys
link, gate_mac = sys.argv[1], bytes.fromhex(sys.argv[2])
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); raw.bind((link, 0))
own = raw.getsockname()[4]
four = lambda a: socket.inet_pton(socket.AF_INET, a)
six = lambda a: socket.inet_pton(socket.AF_INET6, a)
def total(data):
    data += b"\\0" * (len(data) % 2)
    s = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while s >> 16: s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff
def udp(src, dst, text, pseudo):
    body = struct.pack("!HHHH", 7000, 7000, 8 + len(text), 0) + text
    return body[:6] + struct.pack("!H", total(pseudo(len(body), 17) + body) or 0xffff) + body[8:]
def send4(src, dst, text):
    s, d = four(src), four(dst)
    body = udp(s, d, text, lambda n, p: s + d + struct.pack("!BBH", 0, p, n))
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 1, 0, 64, 17, 0) + s + d
    head = head[:10] + struct.pack("!H", total(head)) + head[12:]
    raw.send(gate_mac + own + b"\\x08\\x00" + head + body)
def ipv6(src, dst, next_header, body, hops):
    raw.send(gate_mac + own + b"\\x86\\xdd" + struct.pack("!IHBB", 6 << 28, len(body), next_header, hops) + six(src) + six(dst) + body)
def send6(src, dst, text):
    s, d = six(src), six(dst)
    ipv6(src, dst, 17, udp(s, d, text, lambda n, p: s + d + struct.pack("!II", n, p)), 64)
def nd(src, dst, kind, rest):
    body = struct.pack("!BBH", kind, 0, 0) + rest
    check = total(six(src) + six(dst) + struct.pack("!II", len(body), 58) + body)
    ipv6(src, dst, 58, body[:2] + struct.pack("!H", check) + body[4:], 255)
def arp(op, sender, target):
    raw.send(b"\\xff" * 6 + own + b"\\x08\\x06" + struct.pack("!HHBBH", 1, 0x800, 6, 4, op) + own + four(sender) + b"\\0" * 6 + four(target))
`;

describe.skipIf(!canMakeNamespaces())("Pods that forge senders", () => {
  const linkOf = (name: PodName) => `${prefix}${name}1`;
  const groups = new PolicyGroups();
  /** Sends from a Pod with Python's calls. */
  const forge = async (from: PodName, ...calls: string[]) => {
    const [{ address }] = JSON.parse(await network.in("node", "ip", "-j", "link", "show", linkOf(from)));
    const program = `${SENDER}\n${calls.join("\n")}\n`;
    await network.in(from, "python3", "-c", program, `${prefix}${from}0`, address.replaceAll(":", ""));
  };
  const seenBy = (name: PodName) =>
    network.ask<string[]>(
      name,
      `fetch("http://127.0.0.1:7001").then((answer) => answer.text()).then((text) => console.log(text));`,
    );
  const until = async (name: PodName, text: string) => {
    await expect.poll(() => seenBy(name), { timeout: 10_000 }).toContain(text);
    return seenBy(name);
  };
  const neighbours = async (of: PodName) => network.in("node", "ip", "neigh", "show", "dev", linkOf(of));
  const protect = async () => {
    await run("nft", ["-f", "-"], senderRules(`${prefix}*`), signal);
    await run("sh", ["-c", arpSenderScript(`${prefix}*`)], "", signal);
  };

  beforeAll(async () => {
    await network.addNode("node");
    groups.setNamespaces(new Map([["default", {}]]));
    for (const name of Object.keys(PODS) as PodName[]) {
      await network.addHost(name, "node", ip4(name));
      await network.addIpv6(name, "node", ip6(name));
      const pod = { key: name, namespace: "default", labels: { app: name }, ports: [], nodeName: "n1" };
      groups.put(name, { ...pod, addresses: [ip4(name), ip6(name)] });
    }
    await network.start("data", RECEIVER);
    await network.start("other", echoServer("other", 5432));
    for (const family of ["IPv4", "IPv6"] as const) {
      const table = new PolicyTable(family, { run, log: silentLogger });
      await table.apply(snapshotOf(compilePolicies([ONLY_GOOD], groups, "n1", family), family), false, signal);
    }
  });
  afterAll(() => network[Symbol.asyncDispose]());

  /** What evil sends as good, what it sends as itself, and what good sends. */
  const attempt = async (mark: string) => {
    const both = (from: PodName, text: string) => [
      `send4("${ip4(from)}", "${ip4("data")}", b"${text} 4")`,
      `send6("${ip6(from)}", "${ip6("data")}", b"${text} 6")`,
    ];
    await forge("evil", ...both("good", `${mark} forged`), ...both("evil", `${mark} own`));
    await forge("good", ...both("good", `${mark} good`));
    await until("data", `${mark} good 4`);
    return (await until("data", `${mark} good 6`)).filter((text) => text.startsWith(mark)).sort();
  };

  it("pass a policy of addresses while nobody checks them", async () => {
    expect(await attempt("before")).toEqual(["before forged 4", "before forged 6", "before good 4", "before good 6"]);
    await forge("evil", `arp(1, "10.244.0.77", "169.254.1.1")`);
    await expect.poll(() => neighbours("evil"), { timeout: 10_000 }).toContain("10.244.0.77");
  });

  it("do not pass with another Pod's address of IPv4 or IPv6", async () => {
    await protect();
    expect(await attempt("after")).toEqual(["after good 4", "after good 6"]);
  });

  it("do not pass with an address of the node, of nobody, or of another link", async () => {
    const froms = ["169.254.1.1", "127.0.0.1", "203.0.113.5", "10.244.0.99"];
    await network.start("other", RECEIVER);
    await forge("evil", ...froms.map((from) => `send4("${from}", "${ip4("other")}", b"${from}")`));
    await forge("evil", `send6("fd00:99::1", "${ip6("other")}", b"fd00:99::1")`);
    await forge("evil", `send4("${ip4("evil")}", "${ip4("other")}", b"its own")`);
    expect(await until("other", "its own")).toEqual(["its own"]);
  });

  it("are not believed by ARP", async () => {
    await network.in("node", "ip", "neigh", "flush", "dev", linkOf("evil"));
    await forge(
      "evil",
      `arp(1, "${ip4("good")}", "169.254.1.1")`,
      `arp(2, "${ip4("good")}", "${ip4("good")}")`,
      `arp(1, "${ip4("evil")}", "169.254.1.1")`,
    );
    await expect.poll(() => neighbours("evil"), { timeout: 10_000 }).toContain(`${ip4("evil")} `);
    expect(await neighbours("evil")).not.toContain(`${ip4("good")} `);
    expect(await network.ask("good", connections(ip4("other"), 5432, 1))).toEqual({ [`other ${ip4("good")}`]: 1 });
  });

  it("are not believed by neighbour discovery, as a neighbour or as a router", async () => {
    const option = 'b"\\x01\\x01" + own';
    const target = `six("${ip6("good")}")`;
    const before = await network.in("node", "ip", "-6", "route", "show");
    await network.in("node", "sysctl", "-qw", `net.ipv6.conf.${linkOf("evil")}.accept_ra=2`);
    await forge(
      "evil",
      `nd("${ip6("good")}", "fe80::1", 135, b"\\0" * 4 + six("fe80::1") + ${option})`,
      `nd("${ip6("good")}", "fe80::1", 136, b"\\xe0\\0\\0\\0" + ${target} + b"\\x02\\x01" + own)`,
      `nd("fe80::bad", "fe80::1", 134, struct.pack("!BBHII", 64, 0, 1800, 0, 0) + ${option})`,
      `nd("fe80::bad", "fe80::1", 137, b"\\0" * 4 + six("fe80::bad") + ${target})`,
      `nd("${ip6("evil")}", "fe80::1", 135, b"\\0" * 4 + six("fe80::1") + ${option})`,
    );
    await expect.poll(() => neighbours("evil"), { timeout: 10_000 }).toContain(`${ip6("evil")} `);
    expect(await neighbours("evil")).not.toContain(`${ip6("good")} `);
    expect(await network.in("node", "ip", "-6", "route", "show")).toBe(before);
  });

  it("are checked from the moment on that they have a link", async () => {
    await network.addHost("late", "node", "10.244.0.9");
    expect(await network.in("node", "cat", `/proc/sys/net/ipv4/conf/${prefix}late1/rp_filter`)).toBe("1\n");
    expect(await network.ask("late", connections(ip4("other"), 5432, 1))).toEqual({ "other 10.244.0.9": 1 });
  });
});
