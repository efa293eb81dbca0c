/**
 * Ways between nodes on different links, which a router joins that knows the nodes' addresses and none of their Pods'.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Program, runProgram } from "../../src/network/kernel/program.ts";
import { masqueradeScript } from "../../src/network/overlay/masquerade.ts";
import type { OverlayMode, Peer } from "../../src/network/overlay/plan.ts";
import { applyOverlay } from "../../src/network/overlay/run-overlay.ts";
import { canMakeNamespaces, connections, echoServer, TestNetwork } from "./namespaces.ts";

const signal = new AbortController().signal;
const PORT = 8080;
const BIG = 1_000_000;

interface TestNode extends Peer {
  readonly pod: { readonly name: string; readonly address: string };
  readonly link: string;
}

function node(name: string, link: string, address: string, range: number): TestNode {
  const pod = { name: `p${range}`, address: `10.244.${range}.5` };
  return { name, link, addresses: [address], podCidrs: [`10.244.${range}.0/24`], pod };
}

const A = node("a", "1", "192.168.1.10", 1);
const B = node("b", "1", "192.168.1.11", 2);
const FAR = node("far", "2", "192.168.2.10", 3);
const ALL = [A, B, FAR];

describe.skipIf(!canMakeNamespaces())("nodes on two links", () => {
  const network = new TestNetwork(`kv${process.pid % 1000}`);
  const program =
    (name: string): Program =>
    (command, args, input, aborting) =>
      runProgram("nsenter", [`--net=/run/netns/${network.name(name)}`, command, ...args], input, aborting);
  const ip = (name: string, ...lines: string[]) =>
    program(name)("ip", ["-batch", "-"], `${lines.join("\n")}\n`, signal);
  const apply = (self: TestNode, peers: readonly Peer[], mode: OverlayMode = "auto") =>
    applyOverlay(self, peers, mode, program(self.name), signal);
  const waysOf = async ({ name }: Peer) => {
    const shown = await program(name)("ip", ["route", "show", "proto", "91"], "", signal);
    return shown.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  };
  const ask = (from: string, to: TestNode) =>
    network.ask<Record<string, number>>(from, connections(to.pod.address, PORT, 1));

  beforeAll(async () => {
    await network.addNode("router");
    for (const link of ["1", "2"])
      await ip(
        "router",
        `link add br${link} type bridge`,
        `address add 192.168.${link}.1/24 dev br${link}`,
        `link set br${link} up`,
      );
    for (const { name, link, addresses, pod } of ALL) {
      await network.addNode(name);
      await ip(
        "router",
        `link add to-${name} type veth peer name eth0 netns ${network.name(name)}`,
        `link set to-${name} master br${link} up`,
      );
      await ip(
        name,
        `address add ${addresses[0]}/24 dev eth0`,
        "link set eth0 up",
        `route add default via 192.168.${link}.1`,
      );
      await network.addHost(pod.name, name, pod.address);
      await network.start(
        pod.name,
        `${echoServer(pod.name, PORT)}
        net.createServer((socket) => { let got = 0; socket.on("data", (data) => { got += data.length; if (got === ${BIG}) socket.end(String(got)); }); }).listen(${PORT + 1});`,
      );
    }
    for (const each of ALL) expect((await apply(each, ALL)).problems).toEqual([]);
  });
  afterAll(() => network[Symbol.asyncDispose]());

  it("Pods reach each other by their own addresses, over the link and through the tunnel", async () => {
    expect(await ask(A.pod.name, B)).toEqual({ [`p2 ${A.pod.address}`]: 1 });
    expect(await ask(A.pod.name, FAR)).toEqual({ [`p3 ${A.pod.address}`]: 1 });
    expect(await ask(FAR.pod.name, A)).toEqual({ [`p1 ${FAR.pod.address}`]: 1 });
    // The node itself sends from the first address of its Pods' range.
    expect(await ask(A.name, FAR)).toEqual({ "p3 10.244.1.0": 1 });
    expect(await waysOf(A)).toEqual([
      "10.244.2.0/24 via 192.168.1.11 dev eth0",
      "10.244.3.0/24 via 10.244.3.0 dev k8ts-vxlan onlink",
    ]);
  });

  it("what leaves the cluster looks as if the node had sent it, and what stays does not", async () => {
    await network.start("router", echoServer("outside", PORT));
    await program("a")("nft", ["-f", "-"], masqueradeScript(["IPv4", "IPv6"], ["10.244.0.0/16"]), signal);
    const outside = connections("192.168.2.1", PORT, 1);
    expect(await network.ask(A.pod.name, outside)).toEqual({ "outside 192.168.1.10": 1 });
    expect(await ask(A.pod.name, FAR)).toEqual({ [`p3 ${A.pod.address}`]: 1 });
  });

  it("large packets of a Pod that knows nothing of the tunnel arrive", async () => {
    const link = JSON.parse(await program("a")("ip", ["-j", "link", "show", "k8ts-vxlan"], "", signal)) as [
      { mtu: number },
    ];
    expect(link[0].mtu).toBe(1450);
    const got = await network.ask<number>(
      A.pod.name,
      `const socket = require("node:net").connect(${PORT + 1}, "${FAR.pod.address}", () => socket.write(Buffer.alloc(${BIG})));
       socket.on("data", (data) => console.log(String(data))).setTimeout(10_000, () => { console.log("0"); process.exit(); });`,
    );
    expect(got).toBe(BIG);
  });

  it("what is there is left alone, and what is missing is mended", async () => {
    expect((await apply(A, ALL)).changes).toBe(0);
    await program("a")(
      "bridge",
      ["fdb", "delete", "0a:6b:c0:a8:02:0a", "dev", "k8ts-vxlan", "dst", "192.168.2.10"],
      "",
      signal,
    );
    await ip("a", "neighbour delete 10.244.3.0 dev k8ts-vxlan", "route add 10.99.0.0/24 via 192.168.1.11 proto 92");
    expect((await apply(A, ALL)).changes).toBe(2);
    expect(await ask(A.pod.name, FAR)).toEqual({ [`p3 ${A.pod.address}`]: 1 });
    expect(await program("a")("ip", ["route", "show", "proto", "92"], "", signal)).toContain("10.99.0.0/24");
  });

  it("a node that leaves takes its ways along, and the last one the tunnel", async () => {
    expect((await apply(A, [A, B, FAR], "vxlan")).changes).toBeGreaterThan(0);
    expect((await waysOf(A))[0]).toBe("10.244.2.0/24 via 10.244.2.0 dev k8ts-vxlan onlink");
    await apply(A, [A, B]);
    expect(await waysOf(A)).toEqual(["10.244.2.0/24 via 192.168.1.11 dev eth0"]);
    expect(await program("a")("ip", ["link", "show"], "", signal)).not.toContain("k8ts-vxlan");
    await apply(A, [A]);
    expect(await waysOf(A)).toEqual([]);
  });
});
