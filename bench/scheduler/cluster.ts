/**
 * An API server on the durable store, without controllers, and a scheduler in its process, or in one of its own: what a
 * workload runs on.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { core, KubeObject } from "#api";
import { type ApiServer, startApiServer } from "#apiserver";
import { MetricsRegistry, realClock, silentLogger, systemRandom, TaskGroup } from "#base";
import { Client, inProcess, type ResourceName } from "#client";
import { controllerMetrics, runControllers } from "#controllers";
import { type ClusterPki, ensureClusterPki, kubeconfigFor, writeKubeconfig } from "#pki";
import { runScheduler, schedulerMetrics } from "#scheduler";
import { openStore } from "#store";
import { resourceClaimController } from "../../src/controllers/resource-claim/index.ts";
import { PODS } from "./objects.ts";

const WRITERS = 64;

export interface BenchCluster extends AsyncDisposable {
  readonly client: Client;
  /** Creates all of them, many at a time. */
  create(resource: ResourceName, objects: Iterable<KubeObject>): Promise<void>;
  /** Deletes all of them at once, without grace. */
  remove(resource: ResourceName, objects: readonly KubeObject[]): Promise<void>;
  /** Pods that have been bound so far. */
  bound(): number;
  /** Requests that the API server has answered, by what they were and the code of the answer; watches left out. */
  requests(): ReadonlyMap<string, number>;
  /** Until so many pods have been bound; more may be asked for meanwhile. */
  reached(count: () => number): Promise<void>;
}

export interface BenchOptions {
  /** The scheduler is a process of its own, and speaks over HTTPS. */
  readonly apart?: boolean;
  /** Controllers in the API server's process. Default: none. */
  readonly controllers?: readonly string[];
  /** Default: the durable one. */
  readonly store?: "embedded" | "memory";
}

export async function startBenchCluster({
  apart = false,
  controllers = [],
  store: kind = "embedded",
}: BenchOptions = {}): Promise<BenchCluster> {
  const dir = mkdtempSync(join(tmpdir(), "bench-scheduler-"));
  const clock = realClock();
  const log = silentLogger;
  const random = systemRandom();
  const pki = await ensureClusterPki(join(dir, "pki"), {
    clock,
    log,
    serverNames: { dnsNames: [], ipAddresses: ["127.0.0.1"] },
  });
  const store = await openStore(kind === "memory" ? { kind, clock } : { kind, dir: join(dir, "store"), clock, log });
  const metrics = new MetricsRegistry();
  const server = await startApiServer({
    host: "127.0.0.1",
    port: 0,
    certificate: { ...pki.apiserver, clientCaPem: pki.ca.certPem },
    store,
    sharedStore: false,
    // There is no controller that would make the accounts that pods get, or tell that nodes are ready.
    admission: { disable: ["ServiceAccount", "TaintNodesByCondition"] },
    metrics,
    clock,
    random,
    log,
  });
  const client = new Client({
    transport: inProcess(server.handle, { name: "bench", groups: ["system:masters"] }),
    clock,
    userAgent: "bench",
    timeoutMs: 600_000,
  });
  const scheduler = apart
    ? await startApart(dir, `https://127.0.0.1:${server.port}`, pki, client)
    : await startBeside(server.handle);
  const { bound } = scheduler;
  const working = controllers.length === 0 ? undefined : startControllers(server.handle, controllers);
  return {
    client,
    async create(resource, objects) {
      const left = objects[Symbol.iterator]();
      const write = async () => {
        for (let next = left.next(); next.done !== true; next = left.next())
          await client.of(resource).create(next.value);
      };
      await Promise.all(Array.from({ length: WRITERS }, write));
    },
    async remove(resource, objects) {
      const options = { gracePeriodSeconds: 0 };
      const all = objects.map(({ metadata: { name = "", namespace = "" } }) =>
        client.of(resource).in(namespace).delete(name, options),
      );
      await Promise.all(all);
    },
    bound,
    requests: () => requestsIn(metrics.text()),
    async reached(count) {
      while (bound() < count()) await clock.sleep(2);
    },
    async [Symbol.asyncDispose]() {
      await working?.stop();
      await scheduler.stop();
      await client.close();
      await server.stop();
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function requestsIn(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [, labels = "", count] of text.matchAll(/^apiserver_request_total\{(.*)\} (\d+)$/gm)) {
    const of = (label: string) => new RegExp(`\\b${label}="([^"]*)"`).exec(labels)?.[1] ?? "";
    if (of("verb") === "WATCH") continue;
    const name = [of("verb"), of("resource"), of("subresource"), of("code")].filter((word) => word !== "").join(" ");
    found.set(name, (found.get(name) ?? 0) + Number(count));
  }
  return found;
}

interface Scheduling {
  bound(): number;
  stop(): Promise<void>;
}

async function startBeside(handle: ApiServer["handle"]): Promise<Scheduling> {
  const clock = realClock();
  const user = { name: "system:kube-scheduler", groups: ["system:authenticated"] };
  const client = new Client({
    transport: inProcess(handle, user),
    clock,
    userAgent: "kube-scheduler",
  });
  const metrics = schedulerMetrics(new MetricsRegistry());
  const tasks = new TaskGroup();
  const ready = Promise.withResolvers<void>();
  const options = { client, instance: "bench", clock, random: systemRandom(), log: silentLogger, metrics };
  tasks.run("scheduler", (signal) => runScheduler({ ...options, onReady: () => ready.resolve() }, signal));
  await ready.promise;
  return {
    bound: () => metrics.attempts.labels("scheduled", "default-scheduler").value,
    async stop() {
      await tasks.stop();
      await client.close();
    },
  };
}

function startControllers(handle: ApiServer["handle"], selection: readonly string[]): { stop(): Promise<void> } {
  const clock = realClock();
  const clientOf = (name: string) =>
    new Client({ transport: inProcess(handle, { name, groups: ["system:masters"] }), clock, userAgent: name });
  const options = {
    controllers: [resourceClaimController],
    selection,
    client: clientOf("system:kube-controller-manager"),
    clientOf: (account: string) => clientOf(`system:serviceaccount:kube-system:${account}`),
    instance: "bench",
    clock,
    random: systemRandom(),
    log: silentLogger,
    metrics: controllerMetrics(new MetricsRegistry()),
  };
  const tasks = new TaskGroup();
  tasks.run("controllers", (signal) => runControllers(options, signal));
  return tasks;
}

async function startApart(dir: string, url: string, pki: ClusterPki, client: Client): Promise<Scheduling> {
  const file = join(dir, "kubeconfig");
  await writeKubeconfig(file, kubeconfigFor({ name: "bench", server: url, caPem: pki.ca.certPem, client: pki.admin }));
  const main = join(import.meta.dirname, "..", "..", "src", "cmd", "main.ts");
  const words = [main, "scheduler", "--kubeconfig", file, "--leader-elect=false", "--secure-port", "0"];
  const child = spawn(process.execPath, words, { stdio: "ignore" });
  const ended = once(child, "exit");
  const stopping = new AbortController();
  const bound = new Set<string>();
  const watching = (async () => {
    for await (const event of client.of<core.Pod>(PODS).watch({ signal: stopping.signal })) {
      if (event.type !== "BOOKMARK" && event.object.spec?.nodeName) bound.add(event.object.metadata.uid ?? "");
    }
  })();
  return {
    bound: () => bound.size,
    async stop() {
      stopping.abort();
      child.kill();
      await Promise.all([ended, watching]);
    },
  };
}
