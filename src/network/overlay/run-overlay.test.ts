/** The routes follow the Nodes of an in-memory API server. The kernel is simulated. */

import { expect, it } from "vitest";
import { kinds } from "#api";
import { realClock, seededRandom, silentLogger, TaskGroup } from "#base";
import { Client, inProcess } from "#client";
import { testServer } from "../../apiserver/testing/index.ts";
import type { Program } from "../kernel/program.ts";
import { runOverlay } from "./run-overlay.ts";

it("follows Nodes that come, say that they live, and go", async () => {
  const [clock, server] = [realClock(), await testServer()];
  const client = new Client({
    transport: inProcess(server.handle, { name: "admin", groups: ["system:masters"] }),
    clock,
  });
  const nodes = client.of(kinds.Node);
  const put = async (name: string, address: string, podCIDR: string) => {
    const made = await nodes.create({ metadata: { name }, spec: { podCIDR, podCIDRs: [podCIDR] } });
    return nodes.updateStatus({ ...made, status: { addresses: [{ type: "InternalIP", address }] } });
  };
  await put("a", "192.168.1.10", "10.244.1.0/24");
  let routes: object[] = [];
  let asked = 0;
  const run: Program = async (_, args, input) => {
    for (const line of input.split("\n")) {
      const [, verb, dst, , gateway, , dev] = line.split(" ");
      if (verb === "replace") routes.push({ dst, gateway, dev });
      if (verb === "delete") routes = routes.filter((each) => !("dst" in each && each.dst === dst));
    }
    if (args.includes("address")) {
      asked += 1;
      const addr_info = [{ local: "192.168.1.10", prefixlen: 24 }];
      return JSON.stringify([{ ifname: "eth0", mtu: 1500, addr_info }]);
    }
    return args.includes("-4") ? JSON.stringify(routes) : "";
  };
  const tasks = new TaskGroup();
  const options = {
    client,
    clock,
    random: seededRandom(1),
    log: silentLogger,
    nodeName: "a",
    mode: "auto",
    run,
  } as const;
  tasks.run("overlay", (signal) => runOverlay(options, signal));
  try {
    const other = await put("b", "192.168.1.11", "10.244.2.0/24");
    const way = { dst: "10.244.2.0/24", gateway: "192.168.1.11", dev: "eth0" };
    await expect.poll(() => routes).toEqual([way]);
    const before = asked;
    await nodes.updateStatus({
      ...other,
      status: { ...other.status, conditions: [{ type: "Ready", status: "True" }] },
    });
    await put("c", "192.168.1.12", "10.244.3.0/24");
    await expect.poll(() => routes.length).toBe(2);
    // At most for what was made of it, and for its address: nothing for who said that they live.
    expect(asked - before).toBeLessThanOrEqual(2);
    await nodes.delete("b");
    await expect.poll(() => routes).toEqual([{ dst: "10.244.3.0/24", gateway: "192.168.1.12", dev: "eth0" }]);
  } finally {
    await tasks.stop();
    await client.close();
    await server.close();
  }
});
