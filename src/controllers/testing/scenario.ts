/**
 * A scenario with most controllers: Deployments, StatefulSets, DaemonSets, Jobs, CronJobs, Services, the three kinds of
 * owner deletion, and a terminating namespace.
 *
 * 1. The steps and their times are the same in each run; only the controllers may be disturbed.
 * 2. Scheduler and nodes are scripted: every Pod gets a node, runs there, and ends when it is deleted; Pods of Jobs
 *    succeed.
 */
import { type apps, type batch, type core, isStatusError, type KubeObject, kinds } from "#api";
import type { Client } from "#client";

export interface World {
  readonly client: Client;
  /** Advances time while controllers work. */
  pass(ms: number): Promise<void>;
  /** By the clock of the cluster. */
  now(): number;
}

/**
 * The time after each step: long enough for several retries. The CronJob's last run begins at two minutes, and it is
 * suspended in the last step: a disturbed controller has most of a minute for it.
 */
const STEP_MS = 56_000;
const TURN_MS = 4_000;
const NAMESPACE = "shop";

export async function playScenario(world: World): Promise<void> {
  for (const step of STEPS) {
    await step(world.client);
    for (let passed = 0; passed < STEP_MS; passed += TURN_MS) {
      await world.pass(TURN_MS);
      await playNodes(world);
    }
  }
}

/** Waits until nothing has happened for longer than any backoff. */
export async function calmDown(world: World, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += TURN_MS * 10) {
    await world.pass(TURN_MS * 10);
    await playNodes(world);
  }
}

const STEPS: readonly ((client: Client) => Promise<unknown>)[] = [
  async (client) => {
    for (const name of ["one", "two"]) await client.of(kinds.Node).create({ metadata: { name } });
    await client.of(kinds.Namespace).create({ metadata: { name: NAMESPACE } });
    await client.of(kinds.Deployment).create(workload("web", { replicas: 3 }) as apps.Deployment);
    await client.of(kinds.Service).create(serviceOf("web"));
    await client.of(kinds.StatefulSet).create(workload("db", { replicas: 2, serviceName: "db" }) as apps.StatefulSet);
    await client.of(kinds.Job).create(job("import", { completions: 3, parallelism: 2 }));
  },
  async (client) => {
    await client.of(kinds.DaemonSet).create(workload("agent") as apps.DaemonSet);
    await client.of(kinds.CronJob).create(cronJob("tick"));
    await client.of(kinds.Deployment).create(workload("gone", { replicas: 2 }) as apps.Deployment);
    await client.of(kinds.Namespace).create({ metadata: { name: "temporary" } });
    await client.of(kinds.Deployment).create(workload("inside", { replicas: 2 }, "temporary") as apps.Deployment);
    await client.of(kinds.Job).create(job("inside", { completions: 1 }, "temporary"));
  },
  async (client) => {
    await setImage(client.of(kinds.Deployment).in(NAMESPACE), "web");
    await setImage(client.of(kinds.StatefulSet).in(NAMESPACE), "db");
    await client.of(kinds.Namespace).delete("temporary");
  },
  async (client) => {
    await client
      .of(kinds.Deployment)
      .in(NAMESPACE)
      .patch("web", { type: "merge", object: { spec: { replicas: 2 } } });
    await client.of(kinds.Deployment).in(NAMESPACE).delete("gone", { propagationPolicy: "Foreground" });
    await client.of(kinds.StatefulSet).in(NAMESPACE).delete("db", { propagationPolicy: "Background" });
    await client.of(kinds.DaemonSet).in(NAMESPACE).delete("agent", { propagationPolicy: "Orphan" });
    await client
      .of(kinds.CronJob)
      .in(NAMESPACE)
      .patch("tick", { type: "merge", object: { spec: { suspend: true } } });
  },
];

function workload(name: string, spec: object = {}, namespace = NAMESPACE): KubeObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i:1" }] } };
  return {
    metadata: { name, namespace },
    spec: { ...spec, selector: { matchLabels: labels }, template },
  } as KubeObject;
}

function job(name: string, spec: object, namespace = NAMESPACE): batch.Job {
  const pod: core.PodSpec = { containers: [{ name: "c", image: "i:1" }], restartPolicy: "Never" };
  return { metadata: { name, namespace }, spec: { ...spec, template: { spec: pod } } };
}

function cronJob(name: string): batch.CronJob {
  const { spec = { template: {} } } = job(name, {});
  const metadata = { name, namespace: NAMESPACE };
  return { metadata, spec: { schedule: "* * * * *", successfulJobsHistoryLimit: 1, jobTemplate: { spec } } };
}

function serviceOf(name: string): core.Service {
  const spec: core.ServiceSpec = {
    selector: { app: name },
    ports: [{ port: 80 }],
    clusterIP: "None",
    ipFamilies: ["IPv4"],
  };
  return { metadata: { name, namespace: NAMESPACE }, spec };
}

function setImage(resource: { patch: ReturnType<Client["of"]>["patch"] }, name: string) {
  const template = { spec: { containers: [{ name: "c", image: "i:2" }] } };
  return resource.patch(name, { type: "strategic", object: { spec: { template } } });
}

async function playNodes({ client, now }: World): Promise<void> {
  const time = `${new Date(now()).toISOString().slice(0, 19)}Z`;
  for (const pod of (await client.of(kinds.Pod).list()).items) {
    const { name = "", namespace = "", deletionTimestamp } = pod.metadata;
    const pods = client.of(kinds.Pod).in(namespace);
    if (deletionTimestamp !== undefined) await unlessGone(pods.delete(name, { gracePeriodSeconds: 0 }));
    else if (pod.spec?.nodeName === undefined)
      await unlessGone(pods.subresource(name, "binding").create(bindingOf(pod)));
    else if (pod.status?.phase === "Pending") await unlessGone(pods.updateStatus({ ...pod, status: runs(pod, time) }));
  }
}

function bindingOf({ metadata: { name = "", namespace = "" }, spec }: core.Pod): KubeObject & { target: object } {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const [node = "one"] = terms[0]?.matchFields?.[0]?.values ?? [];
  return { metadata: { name, namespace }, target: { apiVersion: "v1", kind: "Node", name: node } };
}

function runs({ status, spec }: core.Pod, time: string): core.PodStatus {
  const ends = spec?.restartPolicy === "Never";
  return {
    ...status,
    phase: ends ? "Succeeded" : "Running",
    podIP: "10.0.0.1",
    podIPs: [{ ip: "10.0.0.1" }],
    startTime: time,
    conditions: [
      ...(status?.conditions ?? []).filter(({ type }) => type !== "Ready"),
      { type: "Ready", status: ends ? "False" : "True", lastTransitionTime: time },
    ],
  };
}

/** It may have been deleted or changed by a controller meanwhile. */
async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isStatusError(error) || !["NotFound", "Conflict"].includes(error.reason)) throw error;
  }
}
