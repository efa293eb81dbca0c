import { expect, it } from "vitest";
import type { core } from "#api";
import { testFleet } from "./testing/index.ts";

const requests = { cpu: "200m", memory: "100Mi" };
const container = { name: "c", image: "img", resources: { requests } };
const annotated = (annotations: Readonly<Record<string, string>>): Partial<core.Pod["metadata"]> => ({
  annotations: Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [`simulated.k8ts.io/${key}`, value]),
  ),
});

/** CPU in thousandths between two questions, and memory, by Pod. */
async function measured(fleet: Awaited<ReturnType<typeof testFleet>>, betweenMs: number) {
  const read = () => {
    const lines = fleet.fleet.resourceMetrics("node-1").split("\n");
    const value = (metric: string, pod: string) =>
      Number(lines.find((line) => line.startsWith(`${metric}{`) && line.includes(`pod="${pod}"`))?.split(" ")[1]);
    const node = Number(lines.find((line) => line.startsWith("node_cpu_usage_seconds_total "))?.split(" ")[1]);
    return { value, node };
  };
  const first = read();
  await fleet.clock.advance(betweenMs);
  const second = read();
  return {
    node: Math.round(((second.node - first.node) / betweenMs) * 1e6),
    pod: (name: string) => {
      const metric = "container_cpu_usage_seconds_total";
      const cpu = ((second.value(metric, name) - first.value(metric, name)) / betweenMs) * 1e6;
      return [Math.round(cpu), second.value("container_memory_working_set_bytes", name) / 1024 / 1024];
    },
  };
}

it("a container uses a part of its requests, or what annotations say", async () => {
  const fleet = await testFleet();
  const spec = { nodeName: "node-1", containers: [container] };
  await fleet.pod("usual", spec);
  await fleet.pod("bare", { ...spec, containers: [{ name: "c", image: "img" }] });
  await fleet.pod("constant", spec, annotated({ "cpu-usage": "300m", "memory-usage.c": "10Mi" }));
  await fleet.pod("curve", spec, annotated({ "cpu-usage": "0s=100m,1m=500m" }));
  await fleet.clock.advance(10_000);
  const young = await measured(fleet, 20_000);
  expect([young.pod("usual"), young.pod("bare"), young.pod("constant"), young.pod("curve")]).toEqual([
    [20, 50],
    [1, 16],
    [300, 10],
    [100, 50],
  ]);
  expect(young.node).toBe(50 + 20 + 1 + 300 + 100);
  await fleet.clock.advance(60_000);
  expect((await measured(fleet, 20_000)).pod("curve")).toEqual([500, 50]);
  fleet.fleet.stopNode("node-1");
  expect(() => fleet.fleet.resourceMetrics("node-1")).toThrow("the simulated node node-1 does not answer");
  await fleet.close();
});

it("an option decides for loads that depend on more than one Pod", async () => {
  const fleet = await testFleet({ usage: ({ pod }) => ({ cpuMilli: pod.metadata.name === "a" ? 700 : 30 }) });
  const spec = { nodeName: "node-1", containers: [container] };
  await fleet.pod("a", spec, annotated({ "cpu-usage": "1" }));
  await fleet.pod("b", spec);
  await fleet.clock.advance(10_000);
  const { pod } = await measured(fleet, 15_000);
  expect([pod("a"), pod("b")]).toEqual([
    [700, 50],
    [30, 50],
  ]);
  await fleet.close();
});
