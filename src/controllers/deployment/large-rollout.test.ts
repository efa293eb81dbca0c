/**
 * A rolling update of a thousand replicas, looked at over its whole history: at no revision are there more Pods than
 * maxSurge allows, or fewer available ones than maxUnavailable leaves.
 */
import { afterEach, describe, expect, it } from "vitest";
import { type apps, type core, isStatusError, kinds, StatusError } from "#api";
import { seededRandom } from "#base";
import { replicaSetController } from "../replica-set/index.ts";
import { podWith, type TestControllers, testControllers } from "../testing/index.ts";
import { deploymentController } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Limits {
  readonly maxSurge: number | string;
  readonly maxUnavailable: number | string;
}

const deployment = (image: string, replicas: number, rollingUpdate: Limits): apps.Deployment => ({
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    strategy: { type: "RollingUpdate", rollingUpdate },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image }] } },
  },
});

/** Nodes that let Pods run in an order and in portions that nobody knows before. */
function nodesOf({ client, clock, server }: TestControllers, seed: number) {
  const random = seededRandom(seed);
  const pods = client.of(kinds.Pod).in("default");
  return {
    /** Until every Pod is of this image and runs. */
    async rollOut(image: string, replicas: number): Promise<void> {
      for (let turn = 0; turn < 500; turn++) {
        const { items } = await pods.list();
        const pending = items.filter(({ status }) => status?.phase === "Pending");
        const isNew = ({ spec }: core.Pod) => spec?.containers[0]?.image === image;
        if (pending.length === 0 && items.length === replicas && items.every(isNew)) return;
        const share = 0.2 + 0.8 * random.next();
        for (const pod of pending) {
          if (random.next() > share) continue;
          const since = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
          const { status = {} } = podWith("any", { since });
          await pods.updateStatus({ ...pod, status }).catch((error: unknown) => {
            if (!isStatusError(error) || error.reason !== "NotFound") throw error;
          });
        }
        await server.settle();
        await clock.advance(1_000);
      }
      throw new Error("the rollout does not come to its end");
    },
  };
}

/**
 * How many Pods there were at most, and how many available ones at least, at any revision since the first time all were
 * there.
 */
function extremes(events: readonly { readonly type: string; readonly object: object }[], replicas: number) {
  const available = new Map<string, boolean>();
  let [most, least, ready] = [0, Number.POSITIVE_INFINITY, 0];
  let complete = false;
  for (const { type, object } of events) {
    const { metadata, status } = object as core.Pod;
    const name = metadata?.name ?? "";
    const ends = type === "DELETED" || metadata?.deletionTimestamp !== undefined;
    const isReady = !ends && (status?.conditions ?? []).some((each) => each.type === "Ready" && each.status === "True");
    ready += Number(isReady) - Number(available.get(name) ?? false);
    if (ends) available.delete(name);
    else available.set(name, isReady);
    complete ||= ready === replicas;
    if (!complete) continue;
    most = Math.max(most, available.size);
    least = Math.min(least, ready);
  }
  return { most, least };
}

describe("a large rolling update", () => {
  it.each([
    { replicas: 1_000, maxSurge: "25%", maxUnavailable: "25%", most: 1250, least: 750, refusals: 0 },
    { replicas: 200, maxSurge: "30%", maxUnavailable: 0, most: 260, least: 200, refusals: 0 },
    { replicas: 200, maxSurge: 0, maxUnavailable: "30%", most: 200, least: 140, refusals: 0.1 },
  ])("$replicas replicas, maxSurge $maxSurge, maxUnavailable $maxUnavailable, refusals $refusals", async (row) => {
    const { replicas, maxSurge, maxUnavailable, most, least, refusals } = row;
    const limits = { maxSurge, maxUnavailable };
    const cluster = await testControllers([deploymentController, replicaSetController]);
    open.push(() => cluster.close());
    const { client, server, random } = cluster;
    const nodes = nodesOf(cluster, 1);
    const watch = await server.watch("/api/v1/namespaces/default/pods?watch=true");
    open.push(() => watch.close());
    await client.of(kinds.Deployment).create(deployment("one", replicas, limits));
    await server.settle();
    await nodes.rollOut("one", replicas);
    cluster.refuse(({ method }) =>
      method !== "GET" && random.next() < refusals ? new StatusError("InternalError", "by chance") : undefined,
    );
    await client
      .of(kinds.Deployment)
      .in("default")
      .patch("web", {
        type: "strategic",
        object: { spec: { template: { spec: { containers: [{ name: "c", image: "two" }] } } } },
      });
    await server.settle();
    await nodes.rollOut("two", replicas);
    const reached = extremes(watch.events, replicas);
    expect(reached.most).toBeLessThanOrEqual(most);
    expect(reached.least).toBeGreaterThanOrEqual(least);
    // It makes use of what it may: else nothing would have been seen here.
    expect(reached.most - reached.least).toBeGreaterThan((most - least) / 2);
  });
});
