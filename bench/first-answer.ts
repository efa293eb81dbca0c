/**
 * How long it takes from `kubectl apply` to an answer through a port of localhost, with the image there already, stage
 * by stage; beside it the same Pod made by the runtime alone, in turn on the same node. Stages come from what a client
 * sees, and from the flow records of the kubelet's calls to the runtime. Needs root and containerd.
 */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FlowRecord } from "#flows";
import { realClock, silentLogger } from "../src/base/index.ts";
import { nodeNames, siteNames } from "../src/cluster/nodes/index.ts";
import { containerConfig, sandboxConfig } from "../src/kubelet/cri/testing/configs.ts";
import { criRuntime } from "../src/kubelet/index.ts";
import { missing } from "../test/containerd/support/leftovers.ts";
import { Machine } from "../test/containerd/support/machine.ts";
import type { Running } from "../test/support/command.ts";
import type { Figure } from "./run.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 20);
const WARM_UP = 2;
const GIVE_UP_MS = 60_000;
const NODE_PORT = 30_080;
const COMMAND = ["sh", "-c", "mkdir /www; echo hello > /www/index.html; exec httpd -f -p 80 -h /www"];
const CALLS = ["mount", "RunPodSandbox", "CreateContainer", "StartContainer"] as const;
const clock = realClock();

/** Milliseconds by stage, in the order in which they are reported. */
type Stages = ReadonlyMap<string, number>;

export async function run(report: (figure: Figure) => void): Promise<void> {
  if (missing !== "") {
    console.log(`  left out: ${missing}`);
    return;
  }
  await using machine = await Machine.create();
  await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "1", "--port", "0");
  await machine.apply(service);
  writeFileSync(asksOf(machine), "");
  const watcher = machine.start(
    process.execPath,
    join(import.meta.dirname, "nodes", "first-answer-watcher.ts"),
    machine.home.kubeconfig,
    asksOf(machine),
  );
  await watcher.printed("watching");
  const [alone, cluster]: [Stages[], Stages[]] = [[], []];
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    const own = await byRuntime(machine, watcher, `alone-${round}`);
    const all = await byCluster(machine, watcher, `web-${round}`);
    // The first ones fill caches.
    if (round < WARM_UP) continue;
    alone.push(own);
    cluster.push(all);
  }
  watcher.process.kill("SIGTERM");
  await watcher.ended();
  const bounds = new Map([...middle(alone)].map(([stage, value]) => [stage, value]));
  for (const [stage, value] of bounds) report({ name: `runtime alone: ${stage}, p50 of ${ROUNDS}`, value, unit: "ms" });
  for (const [stage, value] of middle(cluster)) {
    const bound = bounds.get(stage);
    report({ name: `cluster: ${stage}, p50 of ${ROUNDS}`, value, unit: "ms", ...(bound !== undefined && { bound }) });
  }
}

async function byCluster(machine: Machine, watcher: Running, name: string): Promise<Stages> {
  const file = join(machine.home.dir, "pod.json");
  writeFileSync(file, JSON.stringify(pod(name)));
  appendFileSync(asksOf(machine), `${name} http://127.0.0.1:${NODE_PORT}/\n`);
  const startMs = clock.now();
  await machine.kubectl("apply", "-f", file);
  const at = async (what: string) => timeOf(watcher, what, name);
  const [created, scheduled, started] = [await at("created"), await at("scheduled"), await at("started")];
  const [ready, endpoint, answered] = [await at("ready"), await at("endpoint"), await at("answered")];
  const calls = await callsOf(machine, name, startMs);
  await machine.kubectl("delete", "pod", name, "--grace-period=0", "--force", "--wait=true");
  const [mount, sandbox, create, start] = calls;
  return new Map([
    ["kubectl and API: command to created", created - startMs],
    ["scheduler: created to bound", scheduled - created],
    ["kubelet: bound to its first work", mount.at - scheduled],
    ["kubelet: volume with the token", sandbox.at - mount.at],
    ["sandbox", sandbox.tookMs],
    ["container created", create.tookMs],
    ["container started", start.tookMs],
    ["kubelet: between these calls", start.at - sandbox.at - sandbox.tookMs - create.tookMs],
    ["kubelet: started to the status in the API", started - start.at - start.tookMs],
    ["readiness probe: status to Ready", ready - started],
    ["endpoints: Ready to EndpointSlice", endpoint - ready],
    ["proxy: EndpointSlice to the answer", answered - endpoint],
    ["in all", answered - startMs],
  ]);
}

async function byRuntime(machine: Machine, watcher: Running, name: string): Promise<Stages> {
  const node = nodeNames(siteNames(machine.home.dataDir), "node-1");
  const runtime = criRuntime({ endpoint: node.socket, clock, log: silentLogger });
  try {
    const { linux } = sandboxConfig({});
    const config = sandboxConfig({
      metadata: { name, uid: name, namespace: "alone", attempt: 0 },
      logDirectory: join(machine.home.dir, "alone-logs", name),
      // Without a Pod's labels: the kubelet leaves it alone.
      labels: {},
      linux: { ...linux, cgroupParent: `${node.cgroup}/alone` },
    });
    mkdirSync(join(config.logDirectory, "main"), { recursive: true });
    const times = [clock.now()];
    const note = () => times.push(clock.now());
    const id = await runtime.runPodSandbox(config, "");
    note();
    const wanted = containerConfig({ command: COMMAND, logPath: "main/0.log" });
    const container = await runtime.createContainer(id, wanted, config);
    note();
    await runtime.startContainer(container);
    note();
    const ip = (await runtime.podSandboxStatus(id))?.ips[0];
    appendFileSync(asksOf(machine), `${name} http://${ip}:80/\n`);
    times.push(await timeOf(watcher, "answered", name));
    await runtime.stopContainer(container, 0);
    await runtime.stopPodSandbox(id);
    await runtime.removePodSandbox(id);
    const [begun = 0, sandbox = 0, created = 0, started = 0, answered = 0] = times;
    return new Map([
      ["sandbox", sandbox - begun],
      ["container created", created - sandbox],
      ["container started", started - created],
      ["started to the answer", answered - started],
      ["in all", answered - begun],
    ]);
  } finally {
    await runtime.close();
  }
}

/** Where the watcher reads what to ask. */
function asksOf(machine: Machine): string {
  return join(machine.home.dir, "asks");
}

interface Call {
  readonly at: number;
  readonly tookMs: number;
}

/** The kubelet reports its work a moment after it is done. */
async function callsOf(machine: Machine, name: string, sinceMs: number): Promise<readonly [Call, Call, Call, Call]> {
  for (;;) {
    const text = await machine.ok("kubectl", "get", "--raw", "/k8ts/flows");
    const all = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as FlowRecord);
    const calls = all.flatMap((each) =>
      each.type === "work" && each.at >= sinceMs && JSON.stringify(each).includes(name)
        ? each.calls.map(({ what, afterMs, tookMs }) => ({ what, at: each.at + afterMs, tookMs }))
        : [],
    );
    const [mount, sandbox, create, start] = CALLS.map((what) => calls.find((each) => each.what.split(" ")[0] === what));
    if (mount !== undefined && sandbox !== undefined && create !== undefined && start !== undefined)
      return [mount, sandbox, create, start];
    await clock.sleep(200);
    if (clock.now() - sinceMs > GIVE_UP_MS) throw new Error(`the flow records lack calls for ${name}`);
  }
}

async function timeOf(watcher: Running, what: string, name: string): Promise<number> {
  const line = `${what} ${name} `;
  await watcher.printed(line);
  // The rest of the line may come a moment later.
  await watcher.printed(`${watcher.stdout().split(line)[1]?.split("\n")[0] ?? ""}\n`);
  return Number(watcher.stdout().split(line)[1]?.split("\n")[0]);
}

function middle(all: readonly Stages[]): Stages {
  const [first = new Map<string, number>()] = all;
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  return new Map([...first.keys()].map((stage) => [stage, median(all.map((each) => each.get(stage) ?? 0))]));
}

const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web" },
  spec: { type: "NodePort", selector: { app: "web" }, ports: [{ port: 80, nodePort: NODE_PORT }] },
};

const pod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: "web" } },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: "main",
        image: "localhost/busybox:1",
        command: COMMAND,
        readinessProbe: { httpGet: { path: "/", port: 80 }, periodSeconds: 1 },
      },
    ],
  },
});
