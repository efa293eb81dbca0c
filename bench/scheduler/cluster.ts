/** An API server on the durable store, without controllers, and a scheduler in its process: what a workload runs on. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer } from "#apiserver";
import type { KubeObject } from "#api";
import { MetricsRegistry, realClock, silentLogger, systemRandom, TaskGroup } from "#base";
import { Client, inProcess, type ResourceName } from "#client";
import { ensureClusterPki } from "#pki";
import { runScheduler, schedulerMetrics } from "#scheduler";
import { openStore } from "#store";

const WRITERS = 64;

export interface BenchCluster extends AsyncDisposable {
  readonly client: Client;
  /** Creates all of them, many at a time. */
  create(resource: ResourceName, objects: Iterable<KubeObject>): Promise<void>;
  /** Pods that have been bound so far. */
  bound(): number;
  /** Until so many pods have been bound. */
  reached(count: number): Promise<void>;
}

export async function startBenchCluster(): Promise<BenchCluster> {
  const dir = mkdtempSync(join(tmpdir(), "bench-scheduler-"));
  const clock = realClock();
  const log = silentLogger;
  const random = systemRandom();
  const pki = await ensureClusterPki(join(dir, "pki"), { clock, log, serverNames: { dnsNames: [], ipAddresses: ["127.0.0.1"] } });
  const store = await openStore({ kind: "embedded", dir: join(dir, "store"), clock, log });
  const server = await startApiServer({
    host: "127.0.0.1",
    port: 0,
    certificate: { ...pki.apiserver, clientCaPem: pki.ca.certPem },
    store,
    sharedStore: false,
    // There is no controller that would make the accounts that pods get, or tell that nodes are ready.
    admission: { disable: ["ServiceAccount", "TaintNodesByCondition"] },
    metrics: new MetricsRegistry(),
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
  const user = { name: "system:kube-scheduler", groups: ["system:authenticated"] };
  const own = new Client({ transport: inProcess(server.handle, user), clock, userAgent: "kube-scheduler" });
  const metrics = schedulerMetrics(new MetricsRegistry());
  const tasks = new TaskGroup();
  const ready = Promise.withResolvers<void>();
  tasks.run("scheduler", (signal) =>
    runScheduler(
      { client: own, instance: "bench", clock, random, log, metrics, onReady: () => ready.resolve() },
      signal,
    ),
  );
  await ready.promise;
  const bound = () => metrics.attempts.labels("scheduled", "default-scheduler").value;
  return {
    client,
    async create(resource, objects) {
      const left = objects[Symbol.iterator]();
      const write = async () => {
        for (let next = left.next(); next.done !== true; next = left.next()) await client.of(resource).create(next.value);
      };
      await Promise.all(Array.from({ length: WRITERS }, write));
    },
    bound,
    async reached(count) {
      while (bound() < count) await clock.sleep(2);
    },
    async [Symbol.asyncDispose]() {
      await tasks.stop();
      await own.close();
      await client.close();
      await server.stop();
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
