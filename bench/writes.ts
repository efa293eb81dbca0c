/**
 * What each write of a Pod's life takes, from the client in the process to the store in memory and back: the API
 * server's own part of scheduling.
 *
 * 1. One by one, so that nothing but the write itself is counted.
 * 2. The times are the thread's own: what else runs on the machine does not count.
 */
import type { core, KubeObject } from "#api";
import type { Figure } from "./run.ts";
import { startBenchCluster } from "./scheduler/cluster.ts";
import { NODES, node, PODS, pod, several } from "./scheduler/objects.ts";

const COUNT = Number(process.env.K8TS_BENCH_WRITES ?? "5000");
const NODE_COUNT = 100;
/** Of no scheduler. */
const OTHER = { schedulerName: "nobody" };

export async function run(report: (figure: Figure) => void): Promise<void> {
  await using cluster = await startBenchCluster({ store: "memory" });
  await cluster.create(
    NODES,
    several(NODE_COUNT, (at) => node(at)),
  );
  const pods = cluster.client.of<core.Pod>(PODS).in("default");
  const condition = (message: string) => ({
    type: "strategic" as const,
    object: {
      status: {
        conditions: [
          {
            type: "DisruptionTarget",
            status: "True",
            reason: "PreemptionByScheduler",
            message,
            lastProbeTime: null,
            lastTransitionTime: "2026-01-01T00:00:00Z",
          },
        ],
      },
    },
  });
  const writes: readonly (readonly [string, (name: string, at: number) => Promise<unknown>])[] = [
    ["create", (name) => pods.create(pod(name, OTHER))],
    ["status patch", (name) => pods.subresource(name, "status").patch(condition("one"))],
    ["status patch, again", (name) => pods.subresource(name, "status").patch(condition("two"))],
    ["bind", (name, at) => pods.subresource<KubeObject>(name, "binding").create(binding(name, at))],
    ["delete", (name) => pods.delete(name)],
  ];
  for (const round of ["warm-up", "measured"]) {
    for (const [what, write] of writes) {
      const cpu = process.threadCpuUsage();
      for (let at = 0; at < COUNT; at++) await write(`${round}-${at}`, at);
      const { user, system } = process.threadCpuUsage(cpu);
      if (round === "measured") report({ name: `${what} of a Pod`, value: (user + system) / COUNT, unit: "µs of cpu" });
    }
  }
}

function binding(name: string, at: number): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name, namespace: "default" },
    target: { kind: "Node", name: `node-${at % NODE_COUNT}` },
  } as KubeObject;
}
