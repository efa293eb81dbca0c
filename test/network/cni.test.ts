/** The CNI protocol with the real plugins: two Pods of a node find each other, and give back what they had. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { realClock } from "#base";
import { Network, parseNetwork } from "#network";
import { canMakeNamespaces, connections, echoServer, TestNetwork } from "./namespaces.ts";

const CIDR = "10.98.7.0/24";

describe.skipIf(!canMakeNamespaces())("containers attached by the machine's CNI plugins", () => {
  it("reach each other, also by a port of the node, and leave no address behind", async () => {
    const folder = mkdtempSync(join(tmpdir(), "k8ts-cni-real-"));
    const { signal } = new AbortController();
    await using tested = new TestNetwork("kcni");
    try {
      await tested.addNode("node");
      const ipam = {
        type: "host-local",
        dataDir: join(folder, "ipam"),
        ranges: [[{ subnet: CIDR }]],
        routes: [{ dst: "0.0.0.0/0" }],
      };
      const network = new Network({
        configuration: parseNetwork(
          JSON.stringify({
            cniVersion: "1.0.0",
            name: "pods",
            plugins: [
              { type: "ptp", ipam },
              { type: "portmap", capabilities: { portMappings: true }, snat: true },
            ],
          }),
        ),
        paths: ["/usr/lib/cni"],
        prefix: ["nsenter", `--net=/run/netns/${tested.name("node")}`],
        stateFolder: join(folder, "state"),
        clock: realClock(),
      });
      const pod = (name: string) => ({ containerId: name, netns: `/run/netns/${tested.name(name)}`, ifName: "eth0" });
      for (const name of ["a", "b"]) await tested.addNode(name);
      const portMappings = [{ hostPort: 8080, containerPort: 80, protocol: "tcp" }];
      const server = { ...pod("a"), runtimeConfig: { portMappings } };
      const { addresses } = await network.attach(server, signal);
      const [address = ""] = addresses;
      await network.attach(pod("b"), signal);
      // Not of the one with a port: portmap looks for its rules of IPv6 too, which it has not made.
      await network.check(pod("b"), signal);
      await tested.start("a", echoServer("a", 80));

      const seen = await tested.ask<Record<string, number>>("b", connections(address, 80, 3));
      expect(Object.values(seen)).toEqual([3]);
      const gateway = address.replace(/\d+$/, "1");
      expect(Object.values(await tested.ask<object>("b", connections(gateway, 8080, 3)))).toEqual([3]);

      await network.detach(server, signal);
      await expect(network.check(server, signal)).rejects.toThrow("not attached");
      expect((await network.collect(new Set(), signal)).map(({ containerId }) => containerId)).toEqual(["b"]);
      const held = readdirSync(join(folder, "ipam/pods")).filter((name) => /^\d/.test(name));
      expect(held).toEqual([]);
      // The cable of b goes with its namespace.
      expect(await tested.in("node", "ip", "-o", "link")).not.toContain(tested.name("a"));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
