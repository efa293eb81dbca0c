/** The proxy follows an API server in memory; the kernel is played. */

import { expect, it } from "vitest";
import { kinds } from "#api";
import { MetricsRegistry, realClock, seededRandom, silentLogger, TaskGroup } from "#base";
import { Client, inProcess } from "#client";
import { testServer } from "../../apiserver/testing/index.ts";
import { ZONE } from "./endpoints.ts";
import { ProxyMetrics } from "./metrics.ts";
import { type Rules, runProxy } from "./run-proxy.ts";

it("sends to its own zone once the node has one", async () => {
  const [clock, server] = [realClock(), await testServer()];
  const transport = inProcess(server.handle, { name: "admin", groups: ["system:masters"] });
  const client = new Client({ transport, clock });
  const nodes = client.of(kinds.Node);
  const made = await nodes.create({ metadata: { name: "n1" } });
  await client
    .of(kinds.Service)
    .in("default")
    .create({ metadata: { name: "web" }, spec: { clusterIP: "10.96.0.1", ports: [{ port: 80 }] } });
  const endpoint = (last: number, name: string) => ({
    addresses: [`10.244.0.${last}`],
    conditions: { ready: true },
    hints: { forZones: [{ name }] },
  });
  await client
    .of(kinds.EndpointSlice)
    .in("default")
    .create({
      metadata: { name: "web-1", labels: { "kubernetes.io/service-name": "web" } },
      addressType: "IPv4",
      ports: [{ name: "", port: 8080, protocol: "TCP" }],
      endpoints: [endpoint(1, "a"), endpoint(2, "b")],
    });
  let endpoints: readonly string[] = [];
  const rules: Rules = {
    apply: async (services) => {
      const web = services.get("default/web");
      if (web !== undefined) endpoints = web[0]?.endpoints.map(({ address }) => address) ?? [];
    },
    resync: async () => {},
    remove: async () => {},
  };
  const tasks = new TaskGroup();
  const options = {
    ...{
      client,
      rules,
      clock,
      random: seededRandom(1),
      log: silentLogger,
      metrics: new ProxyMetrics(new MetricsRegistry(), clock),
    },
    node: { name: "n1", addresses: ["172.18.0.2"], podCidrs: [] },
    run: async () => "",
  };
  tasks.run("proxy", (signal) => runProxy(options, signal));
  try {
    await expect.poll(() => endpoints).toEqual(["10.244.0.1", "10.244.0.2"]);
    await nodes.update({ ...made, metadata: { ...made.metadata, labels: { [ZONE]: "b" } } });
    await expect.poll(() => endpoints).toEqual(["10.244.0.2"]);
  } finally {
    await tasks.stop();
    await client.close();
    await server.close();
  }
});

it("does not take over the kubelet's port, and says so in an Event", async () => {
  const [clock, server] = [realClock(), await testServer()];
  const transport = inProcess(server.handle, { name: "admin", groups: ["system:masters"] });
  const client = new Client({ transport, clock });
  const address = "172.18.0.2";
  await client.of(kinds.Node).create({ metadata: { name: "n1" } });
  await client
    .of(kinds.Service)
    .in("default")
    .create({
      metadata: { name: "thief" },
      spec: {
        clusterIP: "10.96.0.1",
        externalIPs: [address],
        ports: [10250, 8080].map((port) => ({ name: `p${port}`, port })),
      },
    });
  let found: readonly string[] = [];
  const rules: Rules = {
    apply: async (services) => {
      const all = services.get("default/thief");
      if (all !== undefined) found = all.flatMap((vip) => (vip.address === address ? [String(vip.port)] : []));
    },
    resync: async () => {},
    remove: async () => {},
  };
  const tasks = new TaskGroup();
  const options = {
    ...{
      client,
      rules,
      clock,
      random: seededRandom(1),
      log: silentLogger,
      metrics: new ProxyMetrics(new MetricsRegistry(), clock),
    },
    node: { name: "n1", addresses: [address], podCidrs: [] },
    run: async () => "",
    listeners: () => [{ protocol: "tcp", address: "0.0.0.0", port: 10250 }],
  };
  tasks.run("proxy", (signal) => runProxy(options, signal));
  const notes = async () => (await client.of(kinds.Event).in("default").list()).items.map(({ note }) => note);
  try {
    await expect.poll(() => found).toEqual(["8080"]);
    await expect
      .poll(notes)
      .toEqual([
        `Traffic to ${address} port 10250/tcp is not sent to this Service: port 10250/tcp of this node is in use`,
      ]);
  } finally {
    await tasks.stop();
    await client.close();
    await server.close();
  }
});
