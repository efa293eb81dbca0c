/** Services on a node, as real connections find them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realClock, silentLogger, systemRandom } from "#base";
import { applyToKernel } from "../../src/network/kernel/apply-to-kernel.ts";
import { ChangeSignal } from "../../src/network/kernel/change-signal.ts";
import { type Program, runProgram } from "../../src/network/kernel/program.ts";
import { deleteConnections, staleConnections } from "../../src/network/proxy/conntrack.ts";
import { Iptables } from "../../src/network/proxy/iptables/apply.ts";
import { Nftables } from "../../src/network/proxy/nftables/apply.ts";
import type { Rules } from "../../src/network/proxy/run-proxy.ts";
import type { VirtualAddress } from "../../src/network/proxy/virtual-addresses.ts";
import { canMakeNamespaces, connections, datagram, echoServer, TestNetwork } from "./namespaces.ts";

const signal = new AbortController().signal;
const A = { address: "10.244.0.1", port: 8080, isLocal: true };
const B = { address: "10.244.0.2", port: 8080, isLocal: true };

function vip(address: string, more: Partial<VirtualAddress> = {}): VirtualAddress {
  return {
    family: "IPv4",
    address,
    protocol: "tcp",
    port: 80,
    endpoints: [A, B],
    masquerade: "outsiders",
    whenEmpty: "reject",
    ...more,
  };
}

interface Mode {
  readonly name: string;
  readonly prefix: string;
  rules(run: Program): Rules;
  /** Breaks what is in the kernel. */
  meddle(run: Program): Promise<unknown>;
  list(run: Program): Promise<string>;
}

const options = { families: ["IPv4", "IPv6"], podCidrs: ["10.244.0.0/16"], log: silentLogger } as const;
const MODES: readonly Mode[] = [
  {
    name: "nftables",
    prefix: "kp",
    rules: (run) => new Nftables({ ...options, run }),
    meddle: (run) => run("nft", ["flush", "map", "ip", "k8ts-proxy", "vips"], "", signal),
    list: async (run) =>
      (await run("nft", ["list", "table", "ip", "k8ts-proxy"], "", signal)).replaceAll(/expires \S+/g, ""),
  },
  {
    name: "iptables",
    prefix: "ki",
    rules: (run) => new Iptables({ ...options, run }),
    meddle: (run) => run("iptables", ["-t", "nat", "-F", "K8TS-SERVICES"], "", signal),
    list: async (run) => {
      const saved = await run("iptables-save", ["-t", "nat"], "", signal);
      return saved
        .replaceAll(/^#.*\n|\[\d+:\d+\]/gm, "")
        .split("\n")
        .sort()
        .join("\n");
    },
  },
];

describe.skipIf(!canMakeNamespaces()).each(MODES)("Services by $name", (mode) => {
  const network = new TestNetwork(`${mode.prefix}${process.pid % 10_000}`);
  const inNode: Program = (command, args, input, aborting) =>
    runProgram("nsenter", [`--net=/run/netns/${network.name("node")}`, command, ...args], input, aborting);
  const table = mode.rules(inNode);
  const services = new Map<string, VirtualAddress[]>();
  const put = async (name: string, ...addresses: VirtualAddress[]) => {
    const stale = staleConnections(services.get(name) ?? [], addresses);
    services.set(name, addresses);
    await table.apply(new Map([[name, addresses]]), signal);
    await deleteConnections(stale, inNode, signal);
  };
  const from = (host: string, to: string, count = 20, port = 80) =>
    network.ask<Record<string, number>>(host, connections(to, port, count));

  beforeAll(async () => {
    await network.addNode("node");
    await network.in("node", "ip", "addr", "add", "172.18.0.2/32", "dev", "lo");
    await network.addHost("a", "node", A.address);
    await network.addHost("b", "node", B.address);
    await network.addHost("c", "node", "203.0.113.9");
    await network.in("node", "ip", "route", "add", "default", "via", "203.0.113.9");
    await network.start("a", echoServer("a", 8080));
    await network.start("b", echoServer("b", 8080));
    await put("cluster", vip("10.96.0.1"));
    await put("empty", vip("10.96.0.2", { endpoints: [] }));
    await put("port", vip("172.18.0.2", { port: 30080, masquerade: "everybody" }));
    await put(
      "local",
      vip("172.18.0.2", { port: 30081, masquerade: "nobody", endpoints: [A], endpointsFromInside: [B] }),
    );
    await put(
      "away",
      vip("172.18.0.2", {
        port: 30082,
        masquerade: "nobody",
        endpoints: [],
        whenEmpty: "drop",
        endpointsFromInside: [B],
      }),
    );
    await put("guarded", vip("192.0.2.1", { masquerade: "everybody", sourceRanges: ["10.244.0.0/16"] }));
    await put("signalling", vip("10.96.0.4", { protocol: "sctp", port: 3868 }));
    await put("sticky", vip("10.96.0.3", { affinitySeconds: 60 }));
  });
  afterAll(() => network[Symbol.asyncDispose]());

  it("spread evenly over endpoints, and see the client's address", async () => {
    const counts = await from("a", "10.96.0.1", 1000);
    const share = (counts["b 10.244.0.1"] ?? 0) / 1000;
    expect(share).toBeGreaterThan(0.4);
    expect(share).toBeLessThan(0.6);
  });

  it("are found by a Pod that is behind them itself", async () => {
    const counts = await from("a", "10.96.0.1", 40);
    const own = Object.keys(counts).filter((said) => said.startsWith("a "));
    expect(own).toHaveLength(1);
    // Its own connection comes back as the node's, else the answer would not pass the node.
    expect(own[0]).not.toBe("a 10.244.0.1");
  });

  it("are found from the node and from outside, as the node", async () => {
    expect(Object.values(await from("node", "10.96.0.1")).reduce((sum, count) => sum + count)).toBe(20);
    for (const said of Object.keys(await from("c", "10.96.0.1"))) expect(said).not.toContain("203.0.113.9");
  });

  it("refuse at once where there is nobody, or no such port", async () => {
    for (const host of ["a", "node", "c"]) {
      expect(await from(host, "10.96.0.2", 1)).toEqual({ ECONNREFUSED: 1 });
      expect(await from(host, "10.96.0.1", 1, 81)).toEqual({ ECONNREFUSED: 1 });
    }
  });

  it("of SCTP are known to the kernel", async () => {
    const lines = (await mode.list(inNode)).split("\n").filter((line) => line.includes("sctp"));
    expect(lines.join("\n")).toMatch(/10\.96\.0\.4.*sctp.*3868/);
  });

  it("have ports of the node", async () => {
    const counts = await from("c", "172.18.0.2", 20, 30080);
    expect(
      Object.keys(counts)
        .map((said) => said.slice(0, 2))
        .sort(),
    ).toEqual(["a ", "b "]);
  });

  it("that stay on the node show the client's address, and serve insiders from anywhere", async () => {
    expect(await from("c", "172.18.0.2", 5, 30081)).toEqual({ "a 203.0.113.9": 5 });
    expect(await from("a", "172.18.0.2", 5, 30081)).toEqual({ "b 10.244.0.1": 5 });
    expect(await from("c", "172.18.0.2", 1, 30082)).toEqual({ ETIMEDOUT: 1 });
    expect(Object.keys(await from("a", "172.18.0.2", 1, 30082))).toEqual(["b 10.244.0.1"]);
  });

  it("are closed to those whom their ranges leave out", async () => {
    expect(await from("c", "192.0.2.1", 1)).toEqual({ ETIMEDOUT: 1 });
    expect(Object.keys(await from("b", "192.0.2.1", 1))[0]).toMatch(/^[ab] /);
  });

  it("stick to the endpoint that a client has, until that is gone", async () => {
    const first = await from("c", "10.96.0.3", 30);
    expect(Object.keys(first)).toHaveLength(1);
    const had = Object.keys(first)[0]?.startsWith("a ") ? A : B;
    const other = had === A ? B : A;
    await put("sticky", vip("10.96.0.3", { affinitySeconds: 60, endpoints: [other] }));
    const second = await from("c", "10.96.0.3", 10);
    expect(Object.keys(second)[0]?.slice(0, 1)).toBe(other === A ? "a" : "b");
  });

  it("of IPv6 find their endpoints, and stick to one where they should", async () => {
    const addresses = { a: "fd00:244::1", b: "fd00:244::2", c: "fd00:113::9" };
    for (const [name, address] of Object.entries(addresses)) await network.addIpv6(name, "node", address);
    const six = (address: string, more: Partial<VirtualAddress> = {}) =>
      vip(address, {
        family: "IPv6",
        endpoints: [addresses.a, addresses.b].map((each) => ({ address: each, port: 8080, isLocal: true })),
        ...more,
      });
    await put("six", six("fd00:96::1"));
    await put("six-sticky", six("fd00:96::3", { affinitySeconds: 60 }));
    expect(new Set(Object.keys(await from("c", "fd00:96::1", 40)).map((said) => said[0]))).toEqual(new Set("ab"));
    const first = Object.keys(await from("c", "fd00:96::3", 20));
    expect(first).toHaveLength(1);
    await table.resync(signal);
    expect(Object.keys(await from("c", "fd00:96::3", 5))).toEqual(first);
  });

  it("with 1,000 endpoints reach all that they are given", async () => {
    await network.addRange("a", "node", "10.245.0.0/22");
    const endpoints = Array.from({ length: 1000 }, (_, at) => ({
      address: `10.245.${at >> 8}.${at & 255}`,
      port: 8080,
      isLocal: false,
    }));
    await put("many", vip("10.96.0.5", { endpoints }));
    expect(await from("b", "10.96.0.5", 100)).toEqual({ "a 10.244.0.2": 100 });
    await put("many", vip("10.96.0.5", { endpoints: endpoints.slice(1) }));
    expect(await from("b", "10.96.0.5", 20)).toEqual({ "a 10.244.0.2": 20 });
    await put("many");
  });

  it("whose endpoints come and go 50 times a second lose no connection, and end as the last change says", async () => {
    const [clock, stopping] = [realClock(), new AbortController()];
    const changed = new ChangeSignal();
    let wanted: VirtualAddress["endpoints"] = [A, B];
    let applied = 0;
    const apply = async () => {
      applied += 1;
      await put("cluster", vip("10.96.0.1", { endpoints: wanted }));
      return "the endpoints";
    };
    const options = {
      changed,
      apply,
      resyncMs: 3_600_000,
      random: systemRandom(),
      log: silentLogger,
    };
    const applying = applyToKernel({ ...options, clock }, stopping.signal).catch(() => {});
    const load = from("c", "10.96.0.1", 300);
    for (let turn = 0; turn < 100; turn++) {
      wanted = turn % 2 === 0 ? [A] : [A, B];
      changed.mark();
      await clock.sleep(20);
    }
    wanted = [B];
    changed.mark();
    expect(Object.keys(await load).filter((said) => !/^[ab] /.test(said))).toEqual([]);
    const deadline = clock.monotonic() + 10_000;
    let last: string[] = [];
    while (clock.monotonic() < deadline && last.join() !== "b") {
      last = [...new Set(Object.keys(await from("c", "10.96.0.1", 10)).map((said) => said.slice(0, 1)))];
    }
    expect(last).toEqual(["b"]);
    // Changes that arrive during an application are applied together.
    expect(applied).toBeLessThanOrEqual(102);
    stopping.abort();
    await applying;
    await put("cluster", vip("10.96.0.1"));
  });

  it("of datagrams change with their endpoints, also for who goes on sending", async () => {
    const udp = (endpoints: VirtualAddress["endpoints"]) => vip("10.96.0.4", { protocol: "udp", port: 53, endpoints });
    const ask = () => network.ask<string>("b", datagram("10.96.0.4", 53, 5353));
    await put("udp", udp([A]));
    expect(await ask()).toBe("a 10.244.0.2");
    await put("udp", udp([B]));
    expect(await ask()).toMatch(/^b /);
    // Another target port of the same Pod.
    await network.start("b", echoServer("b2", 8081));
    await put("udp", udp([{ ...B, port: 8081 }]));
    expect(await ask()).toMatch(/^b2 /);
  });

  it("lose no connection while their endpoints change", async () => {
    let isDone = false;
    const load = from("c", "10.96.0.1", 600).finally(() => {
      isDone = true;
    });
    let changes = 0;
    for (; !isDone; changes++) {
      const endpoints = [[A], [B], [A, B]][changes % 3] ?? [];
      await put("cluster", vip("10.96.0.1", { endpoints }));
    }
    const counts = await load;
    expect(changes).toBeGreaterThan(1);
    expect(Object.keys(counts).filter((said) => !/^[ab] /.test(said))).toEqual([]);
    await put("cluster", vip("10.96.0.1"));
  });

  it("are as they should be after others have meddled, and after a full resync", async () => {
    const before = await mode.list(inNode);
    await table.resync(signal);
    expect(await mode.list(inNode)).toBe(before);
    await mode.meddle(inNode);
    await table.resync(signal);
    expect(await mode.list(inNode)).toBe(before);
    await mode.meddle(inNode);
    // What is not there cannot be changed: everything is made anew.
    await put("port");
    await put("cluster", vip("10.96.0.1", { endpoints: [A] }));
    expect(Object.keys(await from("c", "10.96.0.1", 3))[0]).toMatch(/^a /);
  });

  it("are gone without a trace where the other mode takes over", async () => {
    await table.remove(signal);
    const left = await inNode("nft", ["list", "ruleset"], "", signal);
    expect(left).not.toMatch(/k8ts|K8TS/);
    await table.resync(signal);
    expect(Object.keys(await from("c", "10.96.0.1", 3))[0]).toMatch(/^[ab] /);
  });
});
