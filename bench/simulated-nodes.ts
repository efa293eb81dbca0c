/**
 * A fleet of simulated nodes: what it takes to start, what it costs at rest, and how fast it lets Pods run that are set
 * to its nodes directly.
 *
 * 1. Everything is in one process: API server, durable store and nodes, with hardly a controller. Pods come from
 *    another process, over TLS.
 * 2. At rest, all that happens is that Leases are renewed: one in 10 s for each node.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Target } from "./apiserver/connection.ts";
import { pod } from "./apiserver/objects.ts";
import { startGenerator, startK8ts } from "./apiserver/processes.ts";
import type { Figure } from "./run.ts";

type Report = (figure: Figure) => void;

const NODES = Number(process.env.BENCH_NODES ?? 5_000);
const PODS_EACH = Number(process.env.BENCH_PODS_EACH ?? 10);
const REST_MS = 20_000;
const CLIENTS = 32;
const PODS = "/api/v1/namespaces/default/pods";
/** Of the kernel's clock, by which it counts processor time. */
const TICKS_PER_SECOND = 100;

export async function run(report: Report): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "bench-nodes-"));
  const [nodes, pods] = [NODES.toLocaleString("en"), (NODES * PODS_EACH).toLocaleString("en")];
  try {
    await using generator = startGenerator();
    await using server = await startK8ts(dir, "API server", ["--runtime", "simulated", "--nodes", String(NODES)]);
    const { target } = server;
    const { pid } = JSON.parse(readFileSync(join(dir, "data", "run.json"), "utf8")) as { pid: number };
    report({ name: `${nodes} nodes: Ready after`, value: server.readyMs, unit: "ms" });
    report({ name: `${nodes} nodes: resident`, value: server.residentMb(), unit: "MB" });
    await sleep(REST_MS / 4);
    const before = processorSeconds(pid);
    await sleep(REST_MS);
    const busy = (processorSeconds(pid) - before) / (REST_MS / 1_000);
    report({ name: `${nodes} nodes: at rest`, value: busy * 100, unit: "% CPU" });

    const start = performance.now();
    const startCpu = processorSeconds(pid);
    for (let round = 0; round < PODS_EACH; round++) {
      const body = pod.replace('"pod-{i}"', `"pod-${round}-{i}"`).replace('"spec":{', '"spec":{"nodeName":"node-{i}",');
      await generator.run({
        target,
        protocol: "h2",
        connections: CLIENTS,
        method: "POST",
        path: PODS,
        contentType: "application/json",
        body,
        first: 1,
        requests: NODES,
      });
    }
    const created = performance.now() - start;
    report({ name: `${pods} Pods: created`, value: (NODES * PODS_EACH * 1_000) / created, unit: "Pods/s" });
    while (!(await allRun(target))) await sleep(200);
    const ms = performance.now() - start;
    report({ name: `${pods} Pods: created and Running`, value: (NODES * PODS_EACH * 1_000) / ms, unit: "Pods/s" });
    report({
      name: `${pods} Pods: processor time for each`,
      value: ((processorSeconds(pid) - startCpu) * 1_000) / (NODES * PODS_EACH),
      unit: "ms",
    });
    report({ name: `${nodes} nodes, ${pods} Pods: resident`, value: server.residentMb(), unit: "MB" });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function allRun(target: Target): Promise<boolean> {
  const { items } = (await ask(target, `${PODS}?limit=1&fieldSelector=status.phase!=Running`)) as { items: unknown[] };
  return items.length === 0;
}

function ask({ port, caPem, certPem, keyPem }: Target, path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, ca: caPem, cert: certPem, key: keyPem };
    get(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve(JSON.parse(text)));
      response.on("error", reject);
    }).on("error", reject);
  });
}

/** In user and system mode, of all threads. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
