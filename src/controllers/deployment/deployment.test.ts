import { afterEach, describe, expect, it } from "vitest";
import { type apps, type core, kinds, StatusError } from "#api";
import { replicaSetController } from "../replica-set/index.ts";
import { reportPods, testControllers } from "../testing/index.ts";
import { deploymentController } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const labels = { app: "web" };
const templateOf = (image: string): core.PodTemplateSpec => ({
  metadata: { labels },
  spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "c", image }] },
});

function deployment(replicas: number, spec: Partial<apps.DeploymentSpec> = {}): apps.Deployment {
  return {
    metadata: { name: "web", namespace: "default" },
    spec: { replicas, selector: { matchLabels: labels }, template: templateOf("web:1"), ...spec },
  };
}

const image = (name: string) =>
  ({ type: "merge", object: { spec: { template: { spec: { containers: [{ name: "c", image: name }] } } } } }) as const;
const spec = (object: object) => ({ type: "merge", object: { spec: { ...object } } }) as const;

async function cluster(seed = 1) {
  const running = await testControllers([deploymentController, replicaSetController], { seed });
  open.push(() => running.close());
  const { client, clock, settle } = running;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const deployments = client.of(kinds.Deployment).in("default");
  const get = () => deployments.get("web");
  const pods = async () => (await client.of(kinds.Pod).list()).items;
  const condition = async (type: string) => (await get()).status?.conditions?.find((each) => each.type === type);
  const sets = async () => {
    const { items } = await client.of(kinds.ReplicaSet).list();
    return items.toSorted((a, b) => revision(a) - revision(b));
  };
  /** Every Pod becomes ready, again and again, until nothing moves any more. */
  const ready = async () => {
    for (let before = -1; before !== running.writes(); ) {
      before = running.writes();
      await reportPods(client, clock.now(), {}, ({ status }) => status?.phase !== "Running");
      await settle();
    }
  };
  const sizes = async () => (await sets()).map(({ spec }) => spec?.replicas);
  const notes = async () => (await client.of(kinds.Event).list()).items.map(({ note }) => note ?? "");
  return { ...running, deployments, get, pods, sets, sizes, ready, condition, notes };
}

const revision = ({ metadata }: apps.ReplicaSet) =>
  Number(metadata.annotations?.["deployment.kubernetes.io/revision"] ?? 0);

describe("a Deployment", () => {
  it("begins with a ReplicaSet of its template", async () => {
    const { deployments, settle, sets, get, ready, notes } = await cluster();
    await deployments.create({
      ...deployment(4),
      metadata: {
        name: "web",
        namespace: "default",
        annotations: { team: "a", "kubernetes.io/change-cause": "first" },
      },
    });
    await settle();
    const [first] = await sets();
    const hash = first?.metadata.labels?.["pod-template-hash"] ?? "";
    expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{6,10}$/);
    expect(first).toMatchObject({
      metadata: {
        name: `web-${hash}`,
        labels: { app: "web", "pod-template-hash": hash },
        annotations: {
          team: "a",
          "kubernetes.io/change-cause": "first",
          "deployment.kubernetes.io/revision": "1",
          "deployment.kubernetes.io/desired-replicas": "4",
          "deployment.kubernetes.io/max-replicas": "5",
        },
        ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", controller: true }],
      },
      spec: {
        replicas: 4,
        selector: { matchLabels: { app: "web", "pod-template-hash": hash } },
        template: { metadata: { labels: { app: "web", "pod-template-hash": hash } } },
      },
    });
    expect(await get()).toMatchObject({
      metadata: { generation: 1, annotations: { "deployment.kubernetes.io/revision": "1" } },
      status: {
        observedGeneration: 1,
        replicas: 4,
        updatedReplicas: 4,
        unavailableReplicas: 4,
        terminatingReplicas: 0,
        conditions: [
          { type: "Available", status: "False", reason: "MinimumReplicasUnavailable" },
          {
            type: "Progressing",
            status: "True",
            reason: "ReplicaSetUpdated",
            message: `ReplicaSet "web-${hash}" is progressing.`,
          },
        ],
      },
    });
    expect(await notes()).toContain(`Scaled up replica set web-${hash} from 0 to 4`);
    await ready();
    expect((await get()).status).toMatchObject({
      readyReplicas: 4,
      availableReplicas: 4,
      conditions: [
        {
          type: "Available",
          status: "True",
          reason: "MinimumReplicasAvailable",
          message: "Deployment has minimum availability.",
        },
        {
          type: "Progressing",
          status: "True",
          reason: "NewReplicaSetAvailable",
          message: `ReplicaSet "web-${hash}" has successfully progressed.`,
        },
      ],
    });
    expect((await get()).status).not.toHaveProperty("unavailableReplicas");
  });

  it("rolls to a new template step by step, and back to one it had", async () => {
    const { deployments, settle, sets, sizes, get, ready, notes, condition } = await cluster();
    await deployments.create(deployment(4));
    await ready();
    await deployments.patch("web", image("web:2"));
    await settle();
    const [first, second] = await sets();
    expect(await sizes()).toEqual([3, 2]);
    expect(await notes()).toEqual(
      expect.arrayContaining([
        `Scaled up replica set ${second?.metadata.name} from 0 to 1`,
        `Scaled down replica set ${first?.metadata.name} from 4 to 3`,
        `Scaled up replica set ${second?.metadata.name} from 1 to 2`,
      ]),
    );
    expect(await condition("Available")).toMatchObject({ status: "True" });
    await ready();
    expect(await sizes()).toEqual([0, 4]);
    expect((await get()).metadata.annotations).toMatchObject({ "deployment.kubernetes.io/revision": "2" });

    await deployments.patch("web", image("web:1"));
    await ready();
    expect((await sets()).map(({ metadata }) => metadata.name)).toEqual([second?.metadata.name, first?.metadata.name]);
    expect(await sizes()).toEqual([0, 4]);
    expect((await sets())[1]?.metadata.annotations).toMatchObject({
      "deployment.kubernetes.io/revision": "3",
      "deployment.kubernetes.io/revision-history": "1",
    });
    expect((await get()).metadata.annotations).toMatchObject({ "deployment.kubernetes.io/revision": "3" });
    expect(await condition("Progressing")).toMatchObject({ reason: "NewReplicaSetAvailable" });
  });

  it("counts on from the revision of a ReplicaSet that it adopts, with every digit", async () => {
    const { client, deployments, get, ready, sets } = await cluster();
    const { spec } = deployment(1);
    const template = { ...spec?.template, spec: { containers: [{ name: "web", image: "web:0" }] } };
    const annotations = { "deployment.kubernetes.io/revision": "3546343826724305832" };
    await client
      .of(kinds.ReplicaSet)
      .in("default")
      .create({
        metadata: { name: "before", annotations, labels: { app: "web" } },
        spec: { replicas: 1, selector: spec?.selector, template },
      } as apps.ReplicaSet);
    await ready();
    await deployments.create(deployment(1));
    await ready();
    const next = { "deployment.kubernetes.io/revision": "3546343826724305833" };
    expect((await get()).metadata.annotations).toMatchObject(next);
    const found = await sets();
    expect(found.find(({ metadata }) => metadata.name !== "before")?.metadata.annotations).toMatchObject(next);
  });

  it("keeps as many old ReplicaSets as it should", async () => {
    const { deployments, sets, ready } = await cluster();
    await deployments.create(deployment(1, { revisionHistoryLimit: 2 }));
    await ready();
    for (let at = 2; at <= 6; at++) {
      await deployments.patch("web", image(`web:${at}`));
      await ready();
    }
    expect((await sets()).map(revision)).toEqual([4, 5, 6]);
  });

  it("recreates: the old Pods are gone before the new ones come", async () => {
    const { deployments, settle, sizes, ready, client, pods, get } = await cluster();
    const template = templateOf("web:1");
    await deployments.create(
      deployment(3, {
        strategy: { type: "Recreate" },
        // Pods that a node runs end slowly: the node says when.
        template: {
          ...template,
          spec: { containers: [], ...template.spec, nodeName: "n", terminationGracePeriodSeconds: 30 },
        },
      }),
    );
    await ready();
    await deployments.patch("web", image("web:2"));
    await settle();
    expect(await sizes()).toEqual([0]);
    const ending = await pods();
    expect(ending.map(({ metadata }) => metadata.deletionTimestamp === undefined)).toEqual([false, false, false]);
    for (const [at, { metadata }] of ending.entries()) {
      expect(await sizes()).toEqual([0]);
      await client
        .of(kinds.Pod)
        .in("default")
        .delete(metadata.name ?? "", { gracePeriodSeconds: 0 });
      await settle();
      if (at < 2) expect(await sizes()).toEqual([0]);
    }
    expect(await sizes()).toEqual([0, 3]);
    await ready();
    expect((await get()).status).toMatchObject({ availableReplicas: 3, updatedReplicas: 3 });
  });

  it("does not roll while it is paused, but scales; and goes on when it is resumed", async () => {
    const { deployments, settle, sizes, ready, condition, clock } = await cluster();
    await deployments.create(deployment(2));
    await ready();
    await deployments.patch("web", spec({ paused: true }));
    await deployments.patch("web", image("web:2"));
    await settle();
    expect(await condition("Progressing")).toMatchObject({
      status: "Unknown",
      reason: "DeploymentPaused",
      message: "Deployment is paused",
    });
    expect(await sizes()).toEqual([2]);
    await deployments.patch("web", spec({ replicas: 5 }));
    await settle();
    expect(await sizes()).toEqual([5]);
    await clock.advance(3600_000);
    expect(await condition("Progressing")).toMatchObject({ reason: "DeploymentPaused" });
    await deployments.patch("web", spec({ paused: false }));
    await settle();
    expect((await condition("Progressing"))?.reason).not.toBe("ProgressDeadlineExceeded");
    await ready();
    expect(await sizes()).toEqual([0, 5]);
  });

  it("says when a rollout does not get on, and that it does again", async () => {
    const { deployments, settle, ready, condition, clock, sets } = await cluster();
    await deployments.create(deployment(2, { progressDeadlineSeconds: 60 }));
    await ready();
    await deployments.patch("web", image("web:2"));
    await settle();
    await clock.advance(50_000);
    expect(await condition("Progressing")).toMatchObject({ status: "True" });
    await clock.advance(20_000);
    const [, second] = await sets();
    expect(await condition("Progressing")).toMatchObject({
      status: "False",
      reason: "ProgressDeadlineExceeded",
      message: `ReplicaSet "${second?.metadata.name}" has timed out progressing.`,
    });
    await ready();
    expect(await condition("Progressing")).toMatchObject({ status: "True", reason: "NewReplicaSetAvailable" });
  });

  it("scales in proportion while it rolls", async () => {
    const { deployments, settle, ready, sizes, sets } = await cluster();
    await deployments.create(
      deployment(10, { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } }),
    );
    await ready();
    await deployments.patch("web", image("nothing:like-it"));
    await settle();
    expect(await sizes()).toEqual([8, 5]);
    await deployments.patch("web", spec({ replicas: 15 }));
    await settle();
    expect(await sizes()).toEqual([11, 7]);
    for (const set of await sets())
      expect(set.metadata.annotations).toMatchObject({
        "deployment.kubernetes.io/desired-replicas": "15",
        "deployment.kubernetes.io/max-replicas": "18",
      });
  });

  it("waits for minReadySeconds before it takes the next away", async () => {
    const { deployments, settle, ready, sizes, clock, client } = await cluster();
    const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } as const;
    await deployments.create(deployment(2, { minReadySeconds: 30, strategy }));
    await ready();
    await clock.advance(31_000);
    await deployments.patch("web", image("web:2"));
    await settle();
    expect(await sizes()).toEqual([2, 1]);
    await reportPods(client, clock.now(), {}, ({ status }) => status?.phase !== "Running");
    await clock.advance(20_000);
    expect(await sizes()).toEqual([2, 1]);
    await clock.advance(15_000);
    expect(await sizes()).toEqual([1, 2]);
  });

  it("takes in a ReplicaSet that nobody has, and lets go of one that no longer fits", async () => {
    const { deployments, settle, sets, client, ready } = await cluster();
    const orphan = { ...labels, "pod-template-hash": "mine" };
    await client.of(kinds.ReplicaSet).create({
      metadata: { name: "orphan", namespace: "default", labels: orphan },
      spec: {
        replicas: 1,
        selector: { matchLabels: orphan },
        template: { ...templateOf("web:1"), metadata: { labels: orphan } },
      },
    });
    await deployments.create(deployment(2));
    await ready();
    // It has the very template: it is the new one.
    expect((await sets()).map(({ metadata, spec }) => [metadata.name, spec?.replicas])).toEqual([["orphan", 2]]);
    await client
      .of(kinds.ReplicaSet)
      .in("default")
      .patch("orphan", { type: "merge", object: { metadata: { labels: { app: "other" } } } });
    await settle();
    const names = (await sets()).map(({ metadata }) => [metadata.name === "orphan", metadata.ownerReferences?.length]);
    expect(names.toSorted()).toEqual([
      [false, 1],
      [true, undefined],
    ]);
  });

  it("makes another name where one is taken", async () => {
    const { deployments, settle, sets, client, get } = await cluster();
    await deployments.create(deployment(1));
    await settle();
    const [first] = await sets();
    const name = first?.metadata.name ?? "";
    await deployments.delete("web", { propagationPolicy: "Background" });
    await client.of(kinds.ReplicaSet).in("default").delete(name, {});
    await settle();
    const other = { other: "one" };
    await client.of(kinds.ReplicaSet).create({
      metadata: { name, namespace: "default", labels: other },
      spec: {
        replicas: 0,
        selector: { matchLabels: other },
        template: { ...templateOf("x"), metadata: { labels: other } },
      },
    });
    await deployments.create(deployment(1));
    await settle();
    expect((await get()).status).toMatchObject({ collisionCount: 1, replicas: 1 });
    const names = (await sets()).map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(2);
    expect(names).toContain(name);
  });

  it("says that it could not create a ReplicaSet, and what its Pods lack", async () => {
    const { deployments, settle, condition, refuse, clock, notes } = await cluster();
    refuse(({ method, path }) =>
      method === "POST" && path.endsWith("/replicasets") ? new StatusError("Forbidden", "no more of them") : undefined,
    );
    await deployments.create(deployment(1));
    await settle();
    expect(await condition("Progressing")).toMatchObject({ status: "False", reason: "ReplicaSetCreateError" });
    expect((await condition("Progressing"))?.message).toMatch(
      /^Failed to create new replica set "web-\w+": no more of them$/,
    );
    expect((await notes()).some((note) => note.startsWith("Failed to create new replica set"))).toBe(true);
    refuse(({ method, path }) =>
      method === "POST" && path.endsWith("/pods") ? new StatusError("Forbidden", "exceeded quota") : undefined,
    );
    await clock.advance(60_000);
    expect(await condition("ReplicaFailure")).toMatchObject({
      status: "True",
      reason: "FailedCreate",
      message: "exceeded quota",
    });
    refuse(() => undefined);
    await clock.advance(1200_000);
    expect(await condition("ReplicaFailure")).toBeUndefined();
  });

  it("writes nothing when there is nothing to say", async () => {
    const { deployments, ready, clock, writes } = await cluster();
    await deployments.create(deployment(3));
    await ready();
    await deployments.patch("web", image("web:2"));
    await ready();
    const before = writes();
    await clock.advance(24 * 3600_000);
    expect(writes()).toBe(before);
  });

  it("arrives through refusals of every kind", async () => {
    const { deployments, ready, refuse, random, clock, sizes, pods } = await cluster(7);
    refuse(({ method }) => {
      if (method === "GET" || random.next() > 0.3) return undefined;
      const reason = (["Conflict", "TooManyRequests", "InternalError"] as const)[random.integer(3)];
      return new StatusError(reason ?? "Conflict", "not now");
    });
    await deployments.create(deployment(5));
    for (let at = 0; at < 40; at++) {
      await clock.advance(5_000);
      await ready();
    }
    await deployments.patch("web", image("web:2"));
    for (let at = 0; at < 60; at++) {
      await clock.advance(5_000);
      await ready();
    }
    expect(await sizes()).toEqual([0, 5]);
    expect(await pods()).toHaveLength(5);
  });

  it("converges from a stop after any write", async () => {
    for (let limit = 1; limit <= 14; limit++) {
      const first = await cluster();
      await first.deployments.create(deployment(2));
      await first.ready();
      let writes = 0;
      first.refuse(({ method }) => {
        if (method !== "GET" && ++writes === limit) void first.stop();
        return undefined;
      });
      await first.deployments.patch("web", image("web:2"));
      await first.ready();
      await first.stop();
      const second = await testControllers([deploymentController, replicaSetController], { server: first.server });
      open.push(() => second.close());
      await second.settle();
      for (let at = 0; at < 8; at++) {
        await reportPods(first.client, second.clock.now(), {}, ({ status }) => status?.phase !== "Running");
        await second.settle();
      }
      expect(await first.sizes()).toEqual([0, 2]);
      expect(await first.pods()).toHaveLength(2);
    }
  });
});
