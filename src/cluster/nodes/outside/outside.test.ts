/** The parts of the way out that decide, without a machine. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { realClock, silentLogger } from "#base";
import { siteNetwork } from "../site/site-network.ts";
import { openDnsRelay } from "./dns-relay.ts";
import { firewallScript } from "./firewall.ts";
import { changingResolver, nodeResolvConf, parseResolvConf } from "./machine-resolver.ts";
import { acceptRules, mayRefuse } from "./other-firewalls.ts";
import { mtuOf } from "./uplinks.ts";

describe("mtuOf", () => {
  const links = [
    { ifname: "lo", mtu: 65_536 },
    { ifname: "eth0", mtu: 1500 },
    { ifname: "wg0", mtu: 1420 },
    { ifname: "tiny", mtu: 900 },
  ];
  it.each([
    ["one uplink", [{ dst: "default", dev: "eth0" }], 1500],
    [
      "the smallest of two",
      [
        { dst: "default", dev: "eth0" },
        { dst: "default", dev: "wg0" },
      ],
      1420,
    ],
    ["of several next hops", [{ dst: "default", nexthops: [{ dev: "wg0" }, { dev: "eth0" }] }], 1420],
    [
      "other routes do not count",
      [
        { dst: "default", dev: "eth0" },
        { dst: "10.0.0.0/8", dev: "wg0" },
      ],
      1500,
    ],
    ["none", [], 1500],
    ["not less than IPv6 needs", [{ dst: "default", dev: "tiny" }], 1280],
  ])("%s", (_name, routes, want) => expect(mtuOf(routes, links)).toBe(want));
});

describe("the firewall's table", () => {
  const site = { machineLink: "k8ts-0000abcd" };
  const ports = { apiServer: 6443, pullProxy: 3128, dnsRelay: 3153, registries: [] };
  const one = siteNetwork(7);
  const both = siteNetwork(7, ["10.244.0.0/16", "fd00:10:244::/56"]);
  const text = firewallScript(site, one, { ports, serviceRanges: ["10.96.0.0/12"], unforwarded: ["eth0", "wlan0"] });

  it("masquerades senders of the cluster only, on all links but its own", () => {
    expect(text).toContain('oifname != "k8ts-0000abcd" ip saddr { 10.89.7.1/24, 10.244.0.0/16 } masquerade');
    expect(text).not.toContain("ip6 saddr");
    const two = firewallScript(site, both, { ports, serviceRanges: [], unforwarded: [] });
    expect(two).toContain("ip6 saddr { fd6b:3874:7300:7::1/64, fd00:10:244::/56 } masquerade");
    expect(two).not.toContain("meta nfproto ipv6 drop");
  });

  it("lets nothing of the cluster's own ranges out, nor anything that the machine did not forward before", () => {
    expect(text).toContain("ip daddr { 10.89.7.1/24, 10.244.0.0/16, 10.96.0.0/12, 10.88.7.0/24 } reject");
    expect(text).toContain('iifname { "eth0", "wlan0" } oifname { "eth0", "wlan0" } drop');
    expect(text).toContain("meta nfproto ipv6 drop");
  });
});

describe("firewalls of others", () => {
  it.each([
    ["-P FORWARD ACCEPT", false],
    ["-P FORWARD DROP", true],
    ["-P FORWARD ACCEPT\n-A FORWARD -j DOCKER-USER", true],
    ["-P FORWARD ACCEPT\n-A FORWARD -i k8ts-1 -m comment --comment k8ts-1 -j ACCEPT", false],
    ["", false],
  ])("%j", (chain, want) => expect(mayRefuse(chain)).toBe(want));

  it("get rules that name the cluster", () => {
    for (const rule of acceptRules({ machineLink: "k8ts-1" })) expect(rule.join(" ")).toContain("--comment k8ts-1");
  });
});

describe("the machine's resolvers", () => {
  it.each([
    ["nameserver 127.0.0.53\noptions edns0\nsearch a.test b.test\n", ["127.0.0.53"], ["a.test", "b.test"]],
    ["# nameserver 10.0.0.1\nnameserver 10.0.0.2 # one\nnameserver fd00::1\n", ["10.0.0.2", "fd00::1"], []],
    ["domain a.test\nsearch .\n", ["127.0.0.1"], []],
    ["", ["127.0.0.1"], []],
  ])("%j", (text, hosts, searches) => {
    const found = parseResolvConf(text);
    expect(found.servers).toEqual(hosts.map((host) => ({ host, port: 53 })));
    expect(found.searches).toEqual(searches);
  });

  it("are read again when the file has changed", async () => {
    const dir = mkdtempSync(join(tmpdir(), "k8ts-resolv-"));
    const file = join(dir, "resolv.conf");
    const resolver = changingResolver(file);
    expect((await resolver()).servers).toEqual([{ host: "127.0.0.1", port: 53 }]);
    for (const [at, host] of ["192.0.2.1", "192.0.2.2"].entries()) {
      writeFileSync(file, `nameserver ${host}\n`);
      utimesSync(file, at, at);
      expect((await resolver()).servers).toEqual([{ host, port: 53 }]);
    }
    rmSync(dir, { recursive: true });
  });

  it("nodes ask the cluster's, with the machine's search domains", () => {
    expect(nodeResolvConf("10.96.0.10", { searches: ["a.test"] })).toBe("nameserver 10.96.0.10\nsearch a.test\n");
    expect(nodeResolvConf("10.96.0.10", { searches: [] })).toBe("nameserver 10.96.0.10\n");
  });
});

describe("the DNS relay", () => {
  /** The question of `a.test`, type A. */
  const question = Buffer.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 97, 4, 116, 101, 115, 116, 0, 0, 1, 0, 1]);
  const responder = async (answers: boolean) => {
    const socket = createSocket("udp4");
    socket.on("message", (message, { port, address }) => {
      const answer = Buffer.from(message);
      answer[2] = 0x81;
      if (answers) socket.send(answer, port, address);
    });
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    return socket;
  };

  it("passes questions on, and asks the next server where one is silent", async () => {
    const [silent, answering] = [await responder(false), await responder(true)];
    const at = (socket: typeof silent) => ({ host: "127.0.0.1", port: (socket.address() as AddressInfo).port });
    const clock = realClock();
    const relay = await openDnsRelay({
      ...{ host: "127.0.0.1", port: 0, clock, log: silentLogger },
      servers: async () => [at(silent), at(answering)],
    });
    const client = createSocket("udp4");
    client.send(question, relay.port, "127.0.0.1");
    const [answer] = (await once(client, "message")) as [Buffer];
    expect(answer.readUInt16BE(0)).toBe(7);
    expect(answer[2]).toBe(0x81);
    client.close();
    await relay.close();
    for (const socket of [silent, answering]) socket.close();
  });
});
