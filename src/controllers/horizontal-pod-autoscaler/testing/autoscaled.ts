/**
 * An autoscaled Deployment on virtual time: load ──► simulated nodes ──► metrics API ──► autoscaler ──► Deployment ──► Pods.
 *
 * 1. Pods are placed when they are created, and counted when they run: time can pass in one step.
 */
import { type apps, type autoscaling, type core, kinds } from "#api";
import { seededRandom, silentLogger, TaskGroup } from "#base";
import { Client, Informer, inProcess } from "#client";
import { Fleet, nodesOf, type UsageSource } from "#kubelet";
import { MetricsServer, registerMetrics } from "#metrics";
import type { LocalExtension } from "../../../apiserver/aggregation/index.ts";
import { deploymentController } from "../../deployment/index.ts";
import { replicaSetController } from "../../replica-set/index.ts";
import { placePods, type TestControllers, testControllers } from "../../testing/index.ts";
import { horizontalPodAutoscaler } from "../index.ts";

const SERVICE = { namespace: "kube-system", name: "metrics" };
/** Serves what a test answers to custom and external metrics. */
export const CUSTOM = { namespace: "kube-system", name: "custom" };

export interface Autoscaled extends TestControllers {
  /** Lets time pass while Pods are placed. */
  live(ms: number): Promise<void>;
  replicas(): Promise<number>;
  hpa(): Promise<autoscaling.HorizontalPodAutoscaler>;
  events(): Promise<readonly string[]>;
}

/** `load`: the CPU in thousandths that all Pods of the Deployment have to share. */
export async function startAutoscaled(load: (now: number) => number, custom?: LocalExtension): Promise<Autoscaled> {
  let server: MetricsServer | undefined;
  const extensions = new Map<string, LocalExtension>([
    [
      "kube-system/metrics",
      (request) => server?.answer(request) ?? { status: 503, headers: {}, body: Buffer.from("") },
    ],
    ...(custom === undefined ? [] : [["kube-system/custom", custom] as const]),
  ]);
  const running = await testControllers([deploymentController, replicaSetController, horizontalPodAutoscaler()], {
    extensions,
  });
  const { client, clock, settle } = running;
  for (const name of ["default", "kube-system", "kube-node-lease"])
    await client.of(kinds.Namespace).create({ metadata: { name } });
  const pods = new Informer<core.Pod>({
    client: client.of(kinds.Pod),
    clock,
    random: seededRandom(3),
    log: silentLogger,
  });
  const sharing = () => pods.cache.inNamespace("default").filter(({ status }) => status?.phase === "Running").length;
  const usage: UsageSource = ({ now }) => ({ cpuMilli: load(now) / Math.max(1, sharing()) });
  const fleet = new Fleet({
    nodes: nodesOf({ count: 2 }),
    clientOf: (name) => {
      const user = { name: `system:node:${name}`, groups: ["system:nodes", "system:authenticated"] };
      return new Client({ transport: inProcess(running.server.handle, user), clock, userAgent: "kubelet" });
    },
    facts: { version: "v1.36.4", architecture: "amd64" },
    usage,
    clock,
    random: seededRandom(1),
    log: silentLogger,
  });
  await registerMetrics(client, SERVICE);
  const tasks = new TaskGroup();
  let unplaced = Promise.withResolvers<void>();
  pods.onChange(({ object }) => {
    if (object.spec?.nodeName === undefined) unplaced.resolve();
  });
  tasks.run("placing", async (signal) => {
    signal.addEventListener("abort", () => unplaced.resolve(), { once: true });
    for (; !signal.aborted; await unplaced.promise) {
      unplaced = Promise.withResolvers();
      await placePods(client);
    }
  });
  tasks.run("pods", (signal) => pods.run(signal));
  tasks.run("fleet", (signal) => fleet.run(signal));
  server = new MetricsServer({
    client,
    scrape: async ({ metadata }) => fleet.resourceMetrics(metadata.name ?? ""),
    clock,
    random: seededRandom(2),
    log: silentLogger,
  });
  const metrics = server;
  tasks.run("metrics", (signal) => metrics.run(signal));
  await settle();
  const deployments = client.of(kinds.Deployment).in("default");
  return {
    ...running,
    async live(ms) {
      await clock.advance(ms);
      await settle();
    },
    replicas: async () => (await deployments.get("web")).spec?.replicas ?? 0,
    hpa: () => client.of(kinds.HorizontalPodAutoscaler).in("default").get("web"),
    events: async () =>
      (await client.of(kinds.Event).in("default").list()).items
        .filter(({ regarding }) => regarding?.kind === "HorizontalPodAutoscaler")
        .map(({ reason, note }) => `${reason}: ${note}`),
    async close() {
      await tasks.stop();
      await running.close();
    },
  };
}

export const labels = { app: "web" };
export const web: apps.Deployment = {
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: "main", image: "img", resources: { requests: { cpu: "200m" } } }] },
    },
  },
};

export function autoscaler(
  spec: Partial<autoscaling.HorizontalPodAutoscalerSpec> = {},
): autoscaling.HorizontalPodAutoscaler {
  return {
    metadata: { name: "web", namespace: "default" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 8,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
      ],
      ...spec,
    },
  };
}
