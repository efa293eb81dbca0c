/** Prints the figures of the test kit, a line of JSON for each. */
import { type apps, type batch, type core, kinds } from "#api";
import { startCluster, type TestCluster } from "../../src/testing/index.ts";

const MEGABYTE = 1e6;
const { gc = () => {} } = globalThis;

function report(name: string, value: number, unit: string): void {
  console.log(JSON.stringify({ name, value, unit }));
}

async function timed<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  const startMs = performance.now();
  const result = await work();
  return [result, performance.now() - startMs];
}

/** With processor time, which says more than the wall's where others use the machine. */
async function timedBoth(name: string, work: () => Promise<unknown>): Promise<void> {
  const before = process.cpuUsage();
  const [, ms] = await timed(work);
  const { user, system } = process.cpuUsage(before);
  report(name, ms / 1000, "s");
  report("  processor time of it", (user + system) / 1e6, "s");
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function rounds(count: number, work: () => Promise<number>): Promise<number> {
  const taken: number[] = [];
  for (let i = 0; i < count; i++) taken.push(await work());
  return median(taken);
}

function deployment(replicas: number): apps.Deployment {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "app", image: "app" }] } };
  return {
    metadata: { name: "web", namespace: "default" },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

async function deploymentStory(): Promise<void> {
  await using cluster = await startCluster();
  const deployments = cluster.client.of(kinds.Deployment).in("default");
  await deployments.create(deployment(2));
  await cluster.eventually(async () => (await deployments.get("web")).status?.readyReplicas === 2);
  await deployments.delete("web");
  await cluster.eventually(async () => (await cluster.client.of(kinds.Pod).list()).items.length === 0);
}

async function start(): Promise<void> {
  const before = process.memoryUsage().rss;
  const [cluster, firstMs] = await timed(() => startCluster());
  report("a cluster with a node is ready, the first of a process", firstMs, "ms");
  gc();
  report("resident beyond Node and the program", (process.memoryUsage().rss - before) / MEGABYTE, "MB");
  await cluster.stop();
  const againMs = await rounds(20, async () => {
    const [next, ms] = await timed(() => startCluster());
    await next.stop();
    return ms;
  });
  report("the next ones (median of 20)", againMs, "ms");
  await timedBoth("100 tests with a cluster each: rollout, deletion, collection", async () => {
    for (let i = 0; i < 100; i++) await deploymentStory();
  });
}

async function forks(): Promise<void> {
  await using cluster = await startCluster({ nodes: 1 });
  const configMaps = cluster.client.of(kinds.ConfigMap).in("default");
  for (let i = 0; i < 10_000; i++)
    await configMaps.create({ metadata: { name: `c${i}` }, data: { text: "x".repeat(100) } });
  await cluster.settle();
  const forkMs = await rounds(20, async () => {
    const [fork, ms] = await timed(() => cluster.fork());
    await fork.stop();
    return ms;
  });
  report("fork of a cluster with 10,000 objects", forkMs, "ms");
  const usedMs = await rounds(20, async () => {
    const [fork, ms] = await timed(async () => {
      const fork = await cluster.fork();
      const own = fork.client.of(kinds.ConfigMap).in("default");
      await own.get("c7");
      return fork;
    });
    await fork.stop();
    return ms;
  });
  report("the same, with the answer to a first request", usedMs, "ms");
  const resetMs = await rounds(20, async () => {
    const fork = await cluster.fork();
    const [, ms] = await timed(() => fork.reset());
    await fork.stop();
    return ms;
  });
  report("reset of a fork", resetMs, "ms");
  gc();
  const before = process.memoryUsage();
  const alive: TestCluster[] = [];
  for (let i = 0; i < 100; i++) alive.push(await cluster.fork());
  gc();
  const after = process.memoryUsage();
  const bytes = after.heapUsed + after.external - before.heapUsed - before.external;
  report("memory of a fork (of 100 that are alive)", bytes / alive.length / MEGABYTE, "MB");
}

async function day(): Promise<void> {
  await using cluster = await startCluster();
  const { client, clock } = cluster;
  const template: core.PodTemplateSpec = {
    spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] },
  };
  for (let i = 0; i < 50; i++) {
    const cronJob: batch.CronJob = {
      metadata: { name: `cron-${i}`, namespace: "default" },
      spec: {
        schedule: `${i} */6 * * *`,
        jobTemplate: { spec: { ttlSecondsAfterFinished: 3_600, template } },
      },
    };
    await client.of(kinds.CronJob).create(cronJob);
  }
  for (let i = 0; i < 100; i++)
    await client.of(kinds.Lease).create({
      metadata: { name: `lease-${i}`, namespace: "default" },
      spec: { holderIdentity: "somebody", leaseDurationSeconds: 60 },
    });
  await timedBoth("a day with 50 CronJobs (4 runs each), 100 Leases, TTLs, a node", () => clock.advance("24h"));
}

await start();
await forks();
await day();
