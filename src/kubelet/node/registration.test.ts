/** A node's presence in an API in memory, on virtual time. */

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kinds } from "#api";
import { seededRandom, silentLogger, TaskGroup } from "#base";
import { Client, inProcess } from "#client";
import { type TestServer, testServer } from "../../apiserver/testing/index.ts";
import type { Machine } from "../host/machine.ts";
import { capacityOf, type NodeReport, type OwnCondition } from "./node-object.ts";
import { Registration } from "./registration.ts";

const machine = { cpus: 2, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3, architecture: "amd64" } as Machine;
const READY: OwnCondition = {
  type: "Ready",
  status: "True",
  reason: "KubeletReady",
  message: "kubelet is posting ready status",
};

let server: TestServer;
let client: Client;
let tasks: TaskGroup;
let ready: OwnCondition;
let registration: Registration;

function start(): void {
  tasks = new TaskGroup();
  const { clock } = server;
  const capacity = capacityOf(machine, { maxPods: 110 });
  const report = async (): Promise<NodeReport> => ({
    machine,
    capacity,
    allocatable: capacity,
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    conditions: [ready],
    images: [],
    kubeletPort: 10250,
    runtimeVersion: "simulated://1",
    kubeletVersion: "v1.36.4",
    runtimeHandlers: [],
  });
  registration = new Registration({
    nodeName: "node-1",
    client,
    clock,
    random: seededRandom(1),
    log: silentLogger,
    labels: { "kubernetes.io/hostname": "node-1" },
    taints: [{ key: "own", effect: "NoSchedule" }],
    report,
    onNode: () => {},
  });
  tasks.run("registration", async (signal) => {
    await registration.register(signal);
    tasks.run("status", (running) => registration.runStatus(running));
    tasks.run("lease", (running) => registration.runLease(running));
  });
}

beforeEach(async () => {
  server = await testServer();
  client = new Client({
    transport: inProcess(server.handle, { name: "system:node:node-1", groups: ["system:masters"] }),
    clock: server.clock,
  });
  ready = READY;
  start();
  await server.settle();
});
afterEach(async () => {
  await tasks.stop();
  await client.close();
  await server.close();
});

const node = () => client.of(kinds.Node).get("node-1");
const isReady = async () => (await node()).status?.conditions?.find(({ type }) => type === "Ready")?.status;

describe("a node in the API", () => {
  it("appears with labels, taints, capacity and a lease of its own", async () => {
    const { metadata, spec, status } = await node();
    expect(metadata.labels).toMatchObject({ "kubernetes.io/hostname": "node-1" });
    expect(spec?.taints).toEqual([{ key: "own", effect: "NoSchedule" }]);
    expect(status).toMatchObject({ capacity: { cpu: "2" }, daemonEndpoints: { kubeletEndpoint: { Port: 10250 } } });
    const lease = await client.of(kinds.Lease).in("kube-node-lease").get("node-1");
    expect(lease.spec).toMatchObject({ holderIdentity: "node-1", leaseDurationSeconds: 40 });
    expect(lease.metadata.ownerReferences).toMatchObject([{ kind: "Node", name: "node-1" }]);
  });

  it("renews its lease every 10 s, and writes nothing else while nothing changes", async () => {
    await server.clock.advance(30_000);
    const before = (await node()).metadata.resourceVersion;
    await server.clock.advance(60_000);
    expect((await node()).metadata.resourceVersion).toBe(before);
    const { spec } = await client.of(kinds.Lease).in("kube-node-lease").get("node-1");
    expect(Date.parse(spec?.renewTime ?? "")).toBeGreaterThan(server.clock.now() - 11_000);
    await server.clock.advance(300_000);
    expect((await node()).metadata.resourceVersion).not.toBe(before);
  });

  it("writes a change at once after changed(), otherwise within 10 s", async () => {
    await server.clock.advance(30_000);
    ready = { ...READY, status: "False", reason: "KubeletNotReady", message: "no" };
    registration.changed();
    await server.settle();
    expect(await isReady()).toBe("False");
    ready = READY;
    await server.clock.advance(10_000);
    expect(await isReady()).toBe("True");
  });

  it("keeps what others have put there", async () => {
    const capacity = { "example.com/gpu": "4" };
    await client
      .of(kinds.Node)
      .subresource("node-1", "status")
      .patch({ type: "merge", object: { status: { capacity } } });
    await client
      .of(kinds.Node)
      .patch("node-1", { type: "merge", object: { metadata: { labels: { zone: "a" } }, spec: { taints: [] } } });
    await tasks.stop();
    start();
    await server.clock.advance(400_000);
    const found = await node();
    expect(found.status?.capacity).toMatchObject({ cpu: "2", "example.com/gpu": "4" });
    expect(found.metadata.labels).toMatchObject({ zone: "a" });
    expect(found.spec?.taints ?? []).toEqual([]);
  });

  it("comes back after it was deleted", async () => {
    await client.of(kinds.Node).delete("node-1");
    await server.clock.advance(20_000);
    expect(await isReady()).toBe("True");
  });
});
