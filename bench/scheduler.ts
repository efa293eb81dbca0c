/**
 * The scheduler under the workload shapes of the original's public scheduler_perf suite: in the API server's process,
 * with bindings on the durable store.
 *
 * 1. Pods per second from the first creation to the last binding, as the original measures them: creating the pods is
 *    part of it.
 * 2. The bound is the original's published lower bound, from its own machines: a ratio of 10 is the aim.
 * 3. The cpu time of the thread that does it all tells what a machine with nothing else to do would reach.
 * 4. What was asked of the API server meanwhile is counted; `K8TS_BENCH_VERBOSE=1` tells what.
 * 5. `K8TS_BENCH_SCALE=0.2` makes everything smaller; `K8TS_BENCH_ONLY=basic,…` picks some.
 */
import { performance } from "node:perf_hooks";
import type { Figure } from "./run.ts";
import { type BenchCluster, type BenchOptions, startBenchCluster } from "./scheduler/cluster.ts";
import { DEVICE_WORKLOADS } from "./scheduler/device-workloads.ts";
import { latency } from "./scheduler/latency.ts";
import { NODES, node, PODS, several } from "./scheduler/objects.ts";
import { type Churn, WORKLOADS, type Workload } from "./scheduler/workloads.ts";

type Report = (figure: Figure) => void;

const SCALE = Number(process.env.K8TS_BENCH_SCALE ?? "1");
const VERBOSE = process.env.K8TS_BENCH_VERBOSE !== undefined;
const ONLY = process.env.K8TS_BENCH_ONLY?.split(",");

export async function run(report: Report): Promise<void> {
  // First of all: the disk has work to do when the files of the other ones have been removed.
  if (ONLY === undefined || ONLY.includes("latency")) await latency(report);
  for (const workload of [...WORKLOADS, ...DEVICE_WORKLOADS]) {
    if (ONLY !== undefined && !ONLY.some((word) => workload.name.includes(word))) continue;
    await measure(workload, report);
  }
  if (ONLY === undefined || ONLY.includes("apart")) await apart(report);
}

/** The same as `basic`, with the scheduler as a process of its own. */
async function apart(report: Report): Promise<void> {
  const [basic] = WORKLOADS;
  if (basic !== undefined) await measure({ ...basic, name: "basic, own process over HTTPS" }, report, { apart: true });
}

async function measure(workload: Workload, report: Report, options: BenchOptions = {}): Promise<void> {
  const { name, bound, nodes, zones, before, measured, churn, controllers = [], rounds } = workload;
  await using cluster = await startBenchCluster({ ...options, controllers });
  const scaled = (count: number) => Math.ceil(count * SCALE);
  await cluster.create(
    NODES,
    several(scaled(nodes), (at) => node(at, zones)),
  );
  await workload.prepare?.(cluster, SCALE);
  let expected = 0;
  if (before !== undefined) {
    expected += scaled(before.count);
    await cluster.create(PODS, several(scaled(before.count), before.make));
    await cluster.reached(() => expected);
  }
  const count = scaled(measured.count);
  const first = name.startsWith("CSI") ? scaled(before?.count ?? 0) : 0;
  const asked = cluster.requests();
  const cpu = process.threadCpuUsage();
  const start = performance.now();
  const churning = churn && repeat(churn, cluster);
  const atOnce = rounds ?? count;
  for (let done = 0; done < count; done += atOnce) {
    const pods = Array.from({ length: Math.min(atOnce, count - done) }, (_, at) => measured.make(first + done + at));
    await cluster.create(PODS, pods);
    await cluster.reached(() => expected + done + pods.length + (churning?.bound() ?? 0));
    if (rounds !== undefined) await cluster.remove(PODS, pods);
  }
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.threadCpuUsage(cpu);
  const answered = [...cluster.requests()].map(([name, sum]) => [name, sum - (asked.get(name) ?? 0)] as const);
  await churning?.stop();
  report({ name: `${name}, ${count} pods`, value: count / seconds, unit: "pods/s", ...(bound && { bound }) });
  report({ name: "  of the thread's cpu time", value: (user + system) / 1000 / count, unit: "ms/pod" });
  report({ name: "  requests", value: answered.reduce((sum, [, one]) => sum + one, 0) / count, unit: "to a pod" });
  if (VERBOSE)
    for (const [name, sum] of answered) if (sum > 0) report({ name: `    ${name}`, value: sum / count, unit: "" });
  report({ name: "  resident", value: process.memoryUsage().rss / 1e6, unit: "MB" });
}

interface Churning {
  /** Pods of it that are bound as well, or will be. */
  bound(): number;
  stop(): Promise<void>;
}

function repeat({ everyMs, round }: Churn, cluster: BenchCluster): Churning {
  let running = true;
  let bound = 0;
  const done = (async () => {
    for (let at = 0; running; at++) {
      bound += await round(cluster, at);
      await new Promise((resolve) => setTimeout(resolve, everyMs).unref());
    }
  })();
  return {
    bound: () => bound,
    async stop() {
      running = false;
      await done;
    },
  };
}
