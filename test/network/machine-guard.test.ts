/** What a node and its Pods reach of the machine through the switch, with real connections. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { machineGuard } from "../../src/cluster/nodes/network/machine-guard.ts";
import { siteNetwork } from "../../src/cluster/nodes/site/site-network.ts";
import { runProgram } from "../../src/network/kernel/program.ts";
import { canMakeNamespaces, connections, datagram, echoServer, TestNetwork } from "./namespaces.ts";

const signal = new AbortController().signal;

describe.skipIf(!canMakeNamespaces())("the machine behind the switch", () => {
  const network = new TestNetwork(`kg${process.pid % 1000}`);
  const site = siteNetwork(7);
  const batch = (name: string, ...lines: string[]) =>
    runProgram("nsenter", [`--net=/run/netns/${network.name(name)}`, "ip", "-batch", "-"], lines.join("\n"), signal);
  const ask = (from: string, to: string, port: number) =>
    network.ask<Record<string, number>>(from, connections(to, port, 1));

  beforeAll(async () => {
    for (const name of ["switch", "machine", "node"]) await network.addNode(name);
    await batch("switch", "link add switch type bridge", "link set switch up");
    for (const [name, link, address] of [
      ["machine", "machine", "10.89.7.1"],
      ["node", "node-1", "10.89.7.11"],
    ] as const) {
      await batch(
        "switch",
        `link add ${link} type veth peer name eth0 netns ${network.name(name)}`,
        `link set ${link} master switch up`,
      );
      await batch(name, `address add ${address}/24 dev eth0`, "link set eth0 up");
    }
    await network.addHost("pod", "node", "10.244.0.2");
    await batch("machine", "route add 10.244.0.0/24 via 10.89.7.11", "address add 192.0.2.77/32 dev lo");
    await batch("node", "route add 192.0.2.77/32 via 10.89.7.1");
    for (const port of [6443, 3128, 5000, 22]) await network.start("machine", echoServer("machine", port));
    await network.start("pod", echoServer("pod", 8080));
  });
  afterAll(() => network[Symbol.asyncDispose]());

  it("shows the API server, and no other port or address, to Pods; the rest of k8ts to nodes", async () => {
    expect(await ask("pod", "10.89.7.1", 22)).toEqual({ "machine 10.244.0.2": 1 });
    const registries = [{ host: "10.89.7.1", port: 5000 }];
    const script = machineGuard(site, { apiServer: 6443, pullProxy: 3128, registries });
    const nft = [`--net=/run/netns/${network.name("switch")}`, "nft", "-f", "-"];
    await runProgram("nsenter", nft, script, signal);
    await runProgram("nsenter", nft, script, signal);

    const closed = { ETIMEDOUT: 1 };
    expect(await ask("pod", "10.89.7.1", 6443)).toEqual({ "machine 10.244.0.2": 1 });
    for (const port of [22, 3128, 5000]) expect(await ask("pod", "10.89.7.1", port)).toEqual(closed);
    expect(await ask("pod", "192.0.2.77", 22)).toEqual(closed);
    for (const port of [6443, 3128, 5000])
      expect(await ask("node", "10.89.7.1", port)).toEqual({ "machine 10.89.7.11": 1 });
    expect(await ask("node", "10.89.7.1", 22)).toEqual(closed);
    expect(await network.ask("pod", datagram("10.89.7.1", 22, 9000))).toBe("none");
  });

  it("reaches Pods, and hears their answers", async () => {
    expect(await ask("machine", "10.244.0.2", 8080)).toEqual({ "pod 10.89.7.1": 1 });
    expect(await network.ask("machine", datagram("10.244.0.2", 8080, 9001))).toBe("pod 10.89.7.1");
    await network.in("machine", "busybox", "ping", "-c", "1", "-W", "2", "10.244.0.2");
  });
});
