import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type core, defaultFeatures } from "#api";
import { MetricsRegistry, realClock, silentLogger, TaskGroup, VirtualClock } from "#base";
import { openChannel } from "#grpc";
import { CallRate } from "./call-rate.ts";
import { podResourcesMethods } from "./messages.ts";
import type { PodResourcesSource } from "./pod-resources.ts";
import { podResourcesMetrics } from "./pod-resources-metrics.ts";
import { servePodResources } from "./serve.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const pod: core.Pod = {
  metadata: { name: "web", namespace: "default", uid: "u" },
  spec: {
    initContainers: [{ name: "init" }, { name: "sidecar", restartPolicy: "Always" }],
    containers: [{ name: "app" }],
  },
};
const device = { resource: "example.com/gpu", id: "gpu-0", numaNodes: [1] };
const claim = {
  entry: "gpu",
  claim: { namespace: "default", name: "c", uid: "claim" },
  devices: [
    {
      driver: "d.com",
      requestNames: ["r"],
      poolName: "node",
      deviceName: "dev",
      cdiDeviceIds: ["d.com/x=1"],
      shareId: "s",
    },
  ],
};
const source: PodResourcesSource = {
  pods: () => [pod],
  held: (_, { name }) => (name === "app" ? { devices: [device], claims: [claim] } : { devices: [], claims: [] }),
  healthyDevices: () => [device],
  exclusive: {
    cpus: (_, container) => (container === "app" ? [2, 3] : []),
    memory: (_, container) => (container === "app" ? [{ type: "memory", bytes: 1024, numaNodes: [0] }] : []),
    allocatableCpus: () => [0, 1, 2, 3],
    allocatableMemory: () => [],
  },
};

describe("the PodResources API", () => {
  it("says what containers have, and what the node has", async () => {
    const dir = await mkdtemp(join(tmpdir(), "k8ts-resources-"));
    open.push(() => rm(dir, { recursive: true, force: true }));
    const [clock, log, registry] = [realClock(), silentLogger, new MetricsRegistry()];
    const metrics = podResourcesMetrics(registry);
    const tasks = new TaskGroup();
    tasks.run("server", (signal) =>
      servePodResources({ source, dir, features: defaultFeatures, metrics, clock, log }, signal),
    );
    open.push(() => tasks.stop());
    const channel = openChannel(join(dir, "kubelet.sock"), { clock, timeoutMs: 5000 });
    open.push(async () => channel.close());
    const { List, Get, GetAllocatableResources } = podResourcesMethods();
    await expect.poll(() => channel.call(List, {}).catch(() => undefined), { timeout: 5000 }).toBeDefined();
    const devices = [{ resourceName: "example.com/gpu", deviceIds: ["gpu-0"], topology: { nodes: [{ id: "1" }] } }];
    const web = {
      name: "web",
      namespace: "default",
      containers: [
        { name: "sidecar", devices: [], cpuIds: [], memory: [], dynamicResources: [] },
        {
          name: "app",
          devices,
          cpuIds: ["2", "3"],
          memory: [{ memoryType: "memory", size: "1024", topology: { nodes: [{ id: "0" }] } }],
          dynamicResources: [
            {
              claimName: "c",
              claimNamespace: "default",
              claimResources: [
                {
                  cdiDevices: [{ name: "d.com/x=1" }],
                  driverName: "d.com",
                  poolName: "node",
                  deviceName: "dev",
                  shareId: "s",
                },
              ],
            },
          ],
        },
      ],
    };
    expect(await channel.call(List, {})).toEqual({ podResources: [web] });
    expect(await channel.call(Get, { podName: "web", podNamespace: "default" })).toEqual({ podResources: web });
    await expect(channel.call(Get, { podName: "x", podNamespace: "default" })).rejects.toThrow(
      "pod x in namespace default not found",
    );
    expect(await channel.call(GetAllocatableResources, {})).toEqual({
      devices,
      cpuIds: ["0", "1", "2", "3"],
      memory: [],
    });
    expect(registry.text()).toContain('kubelet_pod_resources_endpoint_errors_get{server_api_version="v1"} 1');
  });

  it("answers no more than so many calls at once", async () => {
    const clock = new VirtualClock();
    const rate = new CallRate(clock);
    for (let i = 0; i < 10; i++) rate.take();
    expect(() => rate.take()).toThrow("rejected by rate limit");
    await clock.advance(10);
    rate.take();
    expect(() => rate.take()).toThrow("rejected by rate limit");
  });
});
