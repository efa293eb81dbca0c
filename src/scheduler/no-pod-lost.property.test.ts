/**
 * The whole scheduler on an API server that refuses, fails, and swallows its answers, while nodes and Pods come and go:
 * in the end every Pod has a node or fits nowhere, and no node was given more than it has.
 */

import { describe, expect, it } from "vitest";
import { type core, isStatusError, kinds, StatusError } from "#api";
import { type Random, seededRandom } from "#base";
import { amountsIn, type PlainCluster, plainDecision, randomCluster, requestsOf } from "./testing/index.ts";
import { type TestScheduler, testScheduler } from "./testing/test-scheduler.ts";

const RUNS = 30;
const STEPS = 30;

describe("whatever happens", { timeout: 300_000 }, () => {
  it("no Pod is lost and no node overcommitted", async () => {
    let placed = 0;
    let waiting = 0;
    for (let seed = 0; seed < RUNS; seed++) {
      const random = seededRandom(seed);
      const running = await testScheduler({ seed });
      try {
        makeTrouble(running, random);
        for (let step = 0; step < STEPS; step++) await change(running, random, step);
        running.meddle(() => undefined);
        await calm(running);
        const cluster = await stateOf(running);
        for (const node of cluster.nodes) expect(overcommitted(node, cluster.pods), `seed ${seed}`).toEqual([]);
        for (const pod of cluster.pods.filter(({ spec }) => (spec?.nodeName ?? "") === "")) {
          const { feasible } = plainDecision(pod, cluster);
          expect(feasible, `seed ${seed}: ${pod.metadata.name} waits, but fits`).toEqual([]);
          waiting += 1;
        }
        placed += cluster.pods.filter(({ spec }) => (spec?.nodeName ?? "") !== "").length;
      } finally {
        await running.close();
      }
    }
    expect([placed > RUNS, waiting > RUNS]).toEqual([true, true]);
  });
});

/** Of bindings some are refused, some fail, and some are made although the scheduler is told that they failed. */
function makeTrouble({ meddle, server }: TestScheduler, random: Random): void {
  meddle((request) => {
    if (!request.path.includes("/binding") || random.next() > 0.3) return undefined;
    const fate = random.integer(3);
    if (fate === 0) return new StatusError("Conflict", "the object has been modified");
    if (fate === 1) return new StatusError("InternalError", "the disk is on fire");
    return Promise.resolve(server.handle(request)).then(() => new StatusError("Timeout", "no answer in time"));
  });
}

async function change(running: TestScheduler, random: Random, step: number): Promise<void> {
  const { client, clock, settle } = running;
  const what = step < 3 ? 0 : random.integer(10);
  const fresh = randomCluster(random, { nodes: 1, pods: 0 });
  if (what === 0) {
    const [node] = fresh.cluster.nodes;
    const name = `n${step}`;
    if (node !== undefined)
      await running.addNode({
        ...node,
        metadata: { name, labels: { ...node.metadata.labels, "kubernetes.io/hostname": name } },
      });
  } else if (what === 1) {
    const { items } = await client.of(kinds.Node).list();
    if (items.length > 2) await client.of(kinds.Node).delete(random.pick(items).metadata.name ?? "");
  } else if (what === 2) {
    const { items } = await client.of(kinds.Pod).list();
    if (items.length > 0) {
      const { namespace = "", name = "" } = random.pick(items).metadata;
      await client.of(kinds.Pod).in(namespace).delete(name, { gracePeriodSeconds: 0 });
    }
  } else
    await create(running, {
      ...fresh.pod,
      metadata: { ...fresh.pod.metadata, name: `p${step}`, namespace: "default" },
    });
  if (random.next() < 0.5) await settle();
  if (random.next() < 0.3) await clock.advance(random.integer(3_000));
}

/** A random Pod may be one that the API server does not take: then there is none. */
async function create({ addPod }: TestScheduler, pod: core.Pod): Promise<void> {
  const { overhead: _, resources: __, ...spec } = pod.spec ?? { containers: [] };
  try {
    await addPod({ ...pod, spec });
  } catch (error) {
    if (!isStatusError(error) || error.reason !== "Invalid") throw error;
  }
}

/**
 * Long enough for every backoff, and too short for Pods that are looked at again only because they have waited for five
 * minutes.
 */
async function calm({ settle, clock }: TestScheduler): Promise<void> {
  for (let tries = 0; tries < 4; tries++) {
    await settle();
    await clock.advance(12_000);
  }
  await settle();
}

async function stateOf({ client }: TestScheduler): Promise<PlainCluster> {
  const [nodes, pods] = [await client.of(kinds.Node).list(), await client.of(kinds.Pod).list()];
  return { nodes: nodes.items, pods: pods.items, namespaces: [{ metadata: { name: "default" } }] };
}

function overcommitted(node: core.Node, pods: readonly core.Pod[]): readonly string[] {
  const there = pods.filter(({ spec }) => spec?.nodeName === node.metadata.name);
  const used = new Map<string, bigint>([["pods", BigInt(there.length)]]);
  for (const pod of there)
    for (const [name, amount] of requestsOf(pod)) used.set(name, (used.get(name) ?? 0n) + amount);
  const allocatable = amountsIn(node.status?.allocatable);
  return [...used]
    .filter(([name, amount]) => amount > (allocatable.get(name) ?? 0n))
    .map(([name, amount]) => `${node.metadata.name}: ${amount} of ${name}, has ${allocatable.get(name) ?? 0n}`);
}
