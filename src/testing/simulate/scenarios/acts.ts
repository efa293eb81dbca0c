/** What users do: each act is a scenario of its own, and a part of the mixture. */
import { type apps, type core, isStatusError, kinds } from "#api";
import { silentLogger } from "#base";
import { leadElected } from "#client";
import { insist, type Stage } from "../scenario.ts";
import { budget, deployment, job, NAMESPACE, service, statefulSet, withImage, withReplicas } from "./workloads.ts";

export type Act = (stage: Stage) => Promise<void>;

/** A Deployment with a Service is updated, scaled and paused in the middle. */
export const rollout: Act = async (stage) => {
  const { client, random } = stage;
  const deployments = client.of(kinds.Deployment).in(NAMESPACE);
  const minReadySeconds = random.pick([0, 0, 3]);
  await insist(stage, () => client.of(kinds.Service).create(service("web")));
  await insist(stage, () => deployments.create(deployment("web", 2, { spec: { minReadySeconds } })));
  await stage.pause(20_000);
  await insist(stage, () => deployments.patch("web", withImage("app:2")));
  await stage.pause(4_000);
  await insist(stage, () => deployments.patch("web", withReplicas(3)));
  if (random.next() < 0.5) {
    await insist(stage, () => deployments.patch("web", { type: "merge", object: { spec: { paused: true } } }));
    await insist(stage, () => deployments.patch("web", withImage("app:3")));
    await stage.pause(10_000);
    await insist(stage, () => deployments.patch("web", { type: "merge", object: { spec: { paused: false } } }));
  }
  await stage.pause(6_000);
  await insist(stage, () => deployments.patch("web", withImage("app:4")));
};

/** A Deployment is scaled up and down, deleted, and made again under the same name. */
export const scale: Act = async (stage) => {
  const { client, random } = stage;
  const deployments = client.of(kinds.Deployment).in(NAMESPACE);
  await stage.pause(20_000);
  const made = await insist(stage, () => deployments.create(deployment("api", 1, { cpu: "300m" })));
  await insist(stage, () => client.of(kinds.ConfigMap).create(ownedMap(made)));
  for (let i = 0; i < 3; i++) {
    await stage.pause(8_000);
    await insist(stage, () => deployments.patch("api", withReplicas(random.integer(5))));
  }
  if (random.next() < 0.5) {
    const propagationPolicy = random.pick(["Foreground", "Background"] as const);
    await insist(stage, () => deployments.delete("api", { propagationPolicy }));
    await gone(stage, () => deployments.get("api"));
    await insist(stage, () => deployments.create(deployment("api", 2, { cpu: "300m" })));
  }
};

/** It goes with its owner. */
function ownedMap(owner: apps.Deployment | undefined): core.ConfigMap {
  const { name = "", uid = "" } = owner?.metadata ?? {};
  const ownerReferences = [{ apiVersion: "apps/v1", kind: "Deployment", name, uid }];
  return { metadata: { name: "of-api", namespace: NAMESPACE, ownerReferences }, data: { owner: uid } };
}

/** A node goes away and comes back, and another one is drained, with a budget. */
export const nodeLoss: Act = async (stage) => {
  const { client, cluster, random } = stage;
  await insist(stage, () => client.of(kinds.PodDisruptionBudget).create(budget("shop", 3)));
  await insist(stage, () => client.of(kinds.Deployment).create(deployment("shop", 4)));
  await stage.sleep(8_000);
  const [lost = "", drained = ""] = shuffled(random, cluster.nodes);
  const isLost = random.next() < 0.6;
  if (isLost) cluster.components?.fleet?.stopNode(lost);
  await stage.pause(30_000);
  // Without a lost node, two administrators do it at once.
  const nodes = isLost ? [drained] : [drained, lost];
  await Promise.all(nodes.map((node) => drain(stage, node)));
  await stage.pause(30_000);
  if (isLost) cluster.components?.fleet?.startNode(lost);
  for (const node of nodes) await cordon(stage, node, false);
};

async function cordon(stage: Stage, node: string, unschedulable: boolean): Promise<void> {
  const nodes = stage.client.of(kinds.Node);
  await insist(stage, () => nodes.patch(node, { type: "merge", object: { spec: { unschedulable } } }));
}

async function drain(stage: Stage, node: string): Promise<void> {
  const { client } = stage;
  await cordon(stage, node, true);
  const { items } = await client.of(kinds.Pod).list({ fieldSelector: `spec.nodeName=${node}` });
  await Promise.all(items.map((pod) => evict(stage, pod)));
}

async function evict(stage: Stage, { metadata: { name = "", namespace = "" } }: core.Pod): Promise<void> {
  const pods = stage.client.of(kinds.Pod).in(namespace);
  for (let tries = 0; tries < 6; tries++) {
    try {
      await pods
        .subresource(name, "eviction")
        .create({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } });
      return;
    } catch (error) {
      if (!isStatusError(error) || error.reason === "NotFound") return;
      await stage.sleep(5_000);
    }
  }
}

/** Pods are made in a namespace whose quota does not suffice for all of them, by several at once. */
export const quota: Act = async (stage) => {
  const { client, random } = stage;
  const namespace = "limited";
  await insist(stage, () => client.of(kinds.Namespace).create({ metadata: { name: namespace } }));
  await insist(stage, () =>
    client.of(kinds.ResourceQuota).create({ metadata: { name: "few", namespace }, spec: { hard: { pods: "3" } } }),
  );
  const deployments = client.of(kinds.Deployment).in(namespace);
  const own = (name: string, replicas: number) => {
    const made = deployment(name, replicas);
    return { ...made, metadata: { name, namespace } };
  };
  await stage.sleep(2_000);
  await Promise.all([
    insist(stage, () => deployments.create(own("one", 3))),
    insist(stage, () => deployments.create(own("two", 3))),
  ]);
  await stage.pause(15_000);
  await insist(stage, () => deployments.patch("one", withReplicas(1 + random.integer(2))));
  await stage.pause(15_000);
  await insist(stage, () => deployments.patch("one", withReplicas(1)));
  await insist(stage, () => deployments.patch("two", withReplicas(2)));
};

/** A StatefulSet is updated and scaled, and its Pods are deleted. */
export const ordinals: Act = async (stage) => {
  const { client, random } = stage;
  const sets = client.of(kinds.StatefulSet).in(NAMESPACE);
  const podManagementPolicy = random.pick(["OrderedReady", "Parallel"] as const);
  await insist(stage, () =>
    client.of(kinds.Service).create({ ...service("db"), spec: { ...service("db").spec, clusterIP: "None" } }),
  );
  await insist(stage, () => sets.create(statefulSet("db", 2, { spec: { podManagementPolicy } })));
  await stage.pause(12_000);
  await insist(stage, () => client.of(kinds.Pod).in(NAMESPACE).delete("db-0"));
  await stage.pause(10_000);
  await insist(stage, () => sets.patch("db", withImage("app:2")));
  await stage.pause(6_000);
  await insist(stage, () => sets.patch("db", withReplicas(1 + random.integer(3))));
};

/** Jobs run; one is deleted and made again under the same name. */
export const jobs: Act = async (stage) => {
  const { client, random } = stage;
  const all = client.of(kinds.Job).in(NAMESPACE);
  const spec = { completions: 3, parallelism: 2 };
  await insist(stage, () => all.create(job("import", spec)));
  await stage.pause(6_000);
  if (random.next() < 0.6) {
    await insist(stage, () =>
      all.delete("import", { propagationPolicy: random.pick(["Background", "Orphan"] as const) }),
    );
    await gone(stage, () => all.get("import"));
    await insist(stage, () => all.create(job("import", spec)));
  }
  await insist(stage, () => all.create(job("report", { completions: 2, ttlSecondsAfterFinished: 60 })));
};

export const CANDIDATES = ["candidate-a", "candidate-b"] as const;

/** Two candidates for one lease. */
export const leaders: Act = async (stage) => {
  const { cluster, clock, random, signal } = stage;
  for (const identity of CANDIDATES) {
    const leases = cluster.client(identity).of(kinds.Lease).in(NAMESPACE);
    const election = { leases, name: "lead", identity, clock, random, log: silentLogger };
    const run = () =>
      leadElected({ ...election, ...stage.cluster.election(identity) }, signal, async (term) => {
        stage.leads("lead", identity, true);
        await new Promise<void>((resolve) => term.addEventListener("abort", () => resolve(), { once: true }));
        stage.leads("lead", identity, false);
      });
    stage.background(run);
  }
};

async function gone(stage: Stage, get: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    try {
      await get();
    } catch (error) {
      if (isStatusError(error) && error.reason === "NotFound") return;
    }
    await stage.sleep(1_000);
  }
}

function shuffled<T>({ next }: Stage["random"], list: readonly T[]): readonly T[] {
  return list
    .map((each) => [next(), each] as const)
    .sort(([a], [b]) => a - b)
    .map(([, each]) => each);
}
