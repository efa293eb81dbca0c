/**
 * Deployments on simulated nodes, from their creation until every Pod runs: controllers, scheduler and nodes together;
 * then what is left to do.
 *
 * 1. First everything is in one process, as `k8ts up` runs it, on the durable store.
 * 2. Then the controllers are a process of their own, so that what they alone cost at rest can be seen: it should be
 *    under 1 % of a processor.
 * 3. At rest nothing is written but what nodes say about themselves: their Leases, and every few minutes their status.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Target } from "./apiserver/connection.ts";
import { startGenerator, startK8ts } from "./apiserver/processes.ts";
import type { Figure } from "./run.ts";

type Report = (figure: Figure) => void;

const SCALE = Number(process.env.K8TS_BENCH_SCALE ?? "1");
const NODES = Math.ceil(500 * SCALE);
const DEPLOYMENTS = Math.ceil(1_000 * SCALE);
const REPLICAS = 10;
const PODS = DEPLOYMENTS * REPLICAS;
const REST_MS = Number(process.env.K8TS_BENCH_REST_SECONDS ?? "60") * 1_000;
const CALM_MS = 20_000;
const CLIENTS = 16;
/** Of the kernel's clock, by which it counts processor time. */
const TICKS_PER_SECOND = 100;

const deployment = JSON.stringify({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web-{i}" },
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: { app: "web-{i}" } },
    template: {
      metadata: { labels: { app: "web-{i}" } },
      spec: { containers: [{ name: "main", image: "registry.example/app:1" }] },
    },
  },
});

export async function run(report: Report): Promise<void> {
  await measure("in one process", [], report);
  await measure("controllers apart", ["--controllers="], report);
}

async function measure(name: string, flags: readonly string[], report: Report): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "bench-controllers-"));
  const apart = flags.length > 0;
  try {
    await using generator = startGenerator();
    const nodes = ["--runtime", "simulated", "--nodes", String(NODES)];
    await using server = await startK8ts(dir, "control plane", [...nodes, ...flags]);
    await using manager = apart ? startManager(dir) : undefined;
    const { target } = server;
    const { pid } = JSON.parse(readFileSync(join(dir, "data", "run.json"), "utf8")) as { pid: number };
    const pids = [pid, ...(manager === undefined ? [] : [manager.pid])];
    const cpu = () => pids.reduce((sum, each) => sum + processorSeconds(each), 0);

    const [start, startCpu] = [performance.now(), cpu()];
    await generator.run({
      target,
      protocol: "h2",
      connections: CLIENTS,
      method: "POST",
      path: "/apis/apps/v1/namespaces/default/deployments",
      contentType: "application/json",
      body: deployment,
      first: 1,
      requests: DEPLOYMENTS,
    });
    while (!(await allAvailable(target))) await sleep(200);
    const seconds = (performance.now() - start) / 1_000;
    const title = `${name}, ${DEPLOYMENTS} Deployments of ${REPLICAS} on ${NODES} nodes`;
    report({ name: title, value: PODS / seconds, unit: "Pods/s" });
    report({ name: "  until all were available", value: seconds, unit: "s" });
    report({ name: "  processor time for each Pod", value: ((cpu() - startCpu) * 1_000) / PODS, unit: "ms" });
    for (const each of pids)
      report({ name: each === pid ? "  resident" : "  resident, controllers", value: residentMb(each), unit: "MB" });

    await sleep(CALM_MS);
    const [writes, before] = [await writesIn(target), pids.map(processorSeconds)];
    await sleep(REST_MS);
    const share = (at: number) => (100 * (processorSeconds(pids[at] ?? 0) - (before[at] ?? 0))) / (REST_MS / 1_000);
    report({ name: `  at rest for ${REST_MS / 1_000} s: writes`, value: (await writesIn(target)) - writes, unit: "" });
    report({ name: `  at rest: processor${apart ? ", nodes and API server" : ""}`, value: share(0), unit: "% CPU" });
    if (apart) report({ name: "  at rest: processor, controllers", value: share(1), unit: "% CPU", bound: 1 });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Manager extends AsyncDisposable {
  readonly pid: number;
}

function startManager(dir: string): Manager {
  const binary = join(import.meta.dirname, "..", "bin", "k8ts");
  const pki = (file: string) => join(dir, "data", "pki", file);
  const args = [
    "controller-manager",
    `--kubeconfig=${join(dir, "data", "kubeconfig")}`,
    `--root-ca-file=${pki("ca.crt")}`,
    `--service-account-private-key-file=${pki("sa.key")}`,
    "--allocate-node-cidrs",
    "--cluster-cidr=10.0.0.0/8",
    "--secure-port=0",
  ];
  const child = spawn(binary, args, { cwd: dir, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  let ending = false;
  child.once("exit", () => {
    if (!ending) throw new Error(`the controller manager ended: ${log}`);
  });
  return {
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      ending = true;
      if (child.exitCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
}

async function allAvailable(target: Target): Promise<boolean> {
  const list = await ask(target, "/apis/apps/v1/namespaces/default/deployments");
  const { items } = JSON.parse(list) as { items: { status?: { availableReplicas?: number } }[] };
  return items.every(({ status }) => status?.availableReplicas === REPLICAS);
}

/** Writes that the server has answered so far, without the heartbeats of nodes. */
async function writesIn(target: Target): Promise<number> {
  let sum = 0;
  for (const line of (await ask(target, "/metrics")).split("\n")) {
    const [, labels = "", count = "0"] = /^apiserver_request_total\{(.*)\} (\d+)$/.exec(line) ?? [];
    const heartbeat = /resource="leases"|resource="nodes",subresource="status"/.test(labels);
    if (/verb="(POST|PUT|PATCH|APPLY|DELETE|DELETECOLLECTION)"/.test(labels) && !heartbeat) sum += Number(count);
  }
  return sum;
}

function ask({ port, caPem, certPem, keyPem }: Target, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, ca: caPem, cert: certPem, key: keyPem };
    get(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve(text));
      response.on("error", reject);
    }).on("error", reject);
  });
}

/** In user and system mode, of all threads. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
