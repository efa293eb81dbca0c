/**
 * Real nodes: how long a Pod takes from `kubectl apply` to Running, beside what the runtime alone takes for a sandbox
 * and a container; how long a hundred Pods take, and the memory of the node's own processes with them. Needs root and
 * containerd.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { realClock, silentLogger } from "../src/base/index.ts";
import { nodeNames, readNode, siteNames } from "../src/cluster/nodes/index.ts";
import { containerConfig, sandboxConfig } from "../src/kubelet/cri/testing/configs.ts";
import { criRuntime } from "../src/kubelet/index.ts";
import { missing } from "../test/containerd/support/leftovers.ts";
import { Machine } from "../test/containerd/support/machine.ts";
import type { Running } from "../test/support/command.ts";
import type { Figure } from "./run.ts";

const SINGLE = 50;
const MANY = 100;
const clock = realClock();

export async function run(report: (figure: Figure) => void): Promise<void> {
  if (missing !== "") {
    console.log(`  left out: ${missing}`);
    return;
  }
  await using machine = await Machine.create();
  await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "1", "--port", "0");
  const watcher = machine.start(
    process.execPath,
    join(import.meta.dirname, "nodes", "watcher.ts"),
    machine.home.kubeconfig,
  );
  await watcher.printed("ready");
  const file = (name: string, content: object) => {
    const path = join(machine.home.dir, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };

  // The first few fill caches.
  await runtimeAlone(machine, 3);
  const [alone, single]: [number[], number[]] = [[], []];
  for (let number = 0; number < SINGLE + 3; number++) {
    const [own = 0] = await runtimeAlone(machine, 1);
    const name = `single-${number}`;
    const path = file("single.json", pod(name));
    const startMs = clock.now();
    await machine.kubectl("apply", "-f", path);
    const ms = (await runningAt(watcher, name)) - startMs;
    if (number >= 3) {
      alone.push(own);
      single.push(ms);
    }
    await machine.kubectl("delete", "pod", name, "--grace-period=0", "--force", "--wait=true");
  }
  report({ name: "runtime alone: sandbox and container, p50", value: percentile(alone, 50), unit: "ms" });
  report({ name: "runtime alone: sandbox and container, p99", value: percentile(alone, 99), unit: "ms" });
  for (const p of [50, 99]) {
    const bound = percentile(alone, p);
    report({ name: `kubectl apply to Running, p${p} of ${SINGLE}`, value: percentile(single, p), unit: "ms", bound });
  }
  report({
    name: "kubectl apply to Running beyond the runtime, p50",
    value: percentile(single, 50) - percentile(alone, 50),
    unit: "ms",
  });

  report({ name: "kubelet, few Pods", value: await memoryMb(machine, "kubelet"), unit: "MB resident" });
  report({ name: "proxy, few Pods", value: await memoryMb(machine, "proxy"), unit: "MB resident" });
  const items = Array.from({ length: MANY }, (_, number) => pod(`many-${number}`));
  const path = file("many.json", { apiVersion: "v1", kind: "List", items });
  const startMs = clock.now();
  await machine.kubectl("apply", "-f", path);
  let lastMs = 0;
  for (const { metadata } of items) lastMs = Math.max(lastMs, await runningAt(watcher, metadata.name));
  report({ name: `${MANY} Pods on one node: all Running after`, value: (lastMs - startMs) / 1000, unit: "s" });
  report({
    name: `kubelet, ${MANY} Pods just started`,
    value: await memoryMb(machine, "kubelet"),
    unit: "MB resident",
  });
  await clock.sleep(15_000);
  report({ name: `kubelet, ${MANY} Pods running`, value: await memoryMb(machine, "kubelet"), unit: "MB resident" });
  report({ name: `proxy, ${MANY} Pods running`, value: await memoryMb(machine, "proxy"), unit: "MB resident" });
  watcher.process.kill("SIGTERM");
}

const pod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: "main", image: "localhost/busybox:1", command: ["sleep", "100000"] }],
  },
});

async function runningAt(watcher: Running, name: string): Promise<number> {
  const line = `running ${name} `;
  await watcher.printed(line);
  // The rest of the line may come a moment later.
  await watcher.printed(`${watcher.stdout().split(line)[1]?.split("\n")[0] ?? ""}\n`);
  return Number(watcher.stdout().split(line)[1]?.split("\n")[0]);
}

/** How long the runtime takes, asked by nobody's kubelet. */
async function runtimeAlone(machine: Machine, times: number): Promise<number[]> {
  const node = nodeNames(siteNames(machine.home.dataDir), "node-1");
  const runtime = criRuntime({ endpoint: node.socket, clock, log: silentLogger });
  const took: number[] = [];
  try {
    for (let number = 0; number < times; number++) {
      const uid = `alone-${clock.now()}-${number}`;
      const { linux } = sandboxConfig({});
      const config = sandboxConfig({
        metadata: { name: uid, uid, namespace: "alone", attempt: 0 },
        logDirectory: join(machine.home.dir, "alone-logs", uid),
        // Without a Pod's labels: the kubelet leaves it alone.
        labels: {},
        linux: { ...linux, cgroupParent: `${node.cgroup}/alone` },
      });
      mkdirSync(join(config.logDirectory, "main"), { recursive: true });
      const start = clock.monotonic();
      const id = await runtime.runPodSandbox(config, "");
      const wanted = containerConfig({ command: ["sleep", "100000"], logPath: "main/0.log" });
      const container = await runtime.createContainer(id, wanted, config);
      await runtime.startContainer(container);
      took.push(clock.monotonic() - start);
      await runtime.stopContainer(container, 0);
      await runtime.stopPodSandbox(id);
      await runtime.removePodSandbox(id);
    }
  } finally {
    await runtime.close();
  }
  return took;
}

async function memoryMb(machine: Machine, part: "kubelet" | "proxy"): Promise<number> {
  const record = await readNode(nodeNames(siteNames(machine.home.dataDir), "node-1"));
  const status = readFileSync(`/proc/${record?.run?.[part]?.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN;
}
