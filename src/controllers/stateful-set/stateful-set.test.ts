import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type apps, type core, kinds, StatusError } from "#api";
import { garbageCollector } from "../garbage-collector/index.ts";
import { isReady } from "../pods/index.ts";
import { podWith, reportPods, testControllers } from "../testing/index.ts";
import { statefulSetController } from "./index.ts";
import { movesOf } from "./replicas.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const labels = { app: "db" };
const templateOf = (image: string): core.PodTemplateSpec => ({
  metadata: { labels },
  spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "c", image }] },
});
const claimTemplate: core.PersistentVolumeClaim = {
  metadata: { name: "data", labels: { kind: "fast" } },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

function set(replicas: number, spec: Partial<apps.StatefulSetSpec> = {}): apps.StatefulSet {
  return {
    metadata: { name: "db", namespace: "default" },
    spec: { replicas, serviceName: "svc", selector: { matchLabels: labels }, template: templateOf("db:1"), ...spec },
  };
}

const spec = (object: object) => ({ type: "merge", object: { spec: { ...object } } }) as const;
const image = (name: string) => spec({ template: { spec: { containers: [{ name: "c", image: name }] } } });

async function cluster(seed = 1, more: Parameters<typeof testControllers>[0] = []) {
  const running = await testControllers([statefulSetController, ...more], { seed });
  open.push(() => running.close());
  const { client, clock, settle } = running;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const sets = client.of(kinds.StatefulSet).in("default");
  const all = async () => (await client.of(kinds.Pod).list()).items;
  const names = async () => (await all()).map(({ metadata }) => metadata.name).toSorted();
  const claims = async () => (await client.of(kinds.PersistentVolumeClaim).list()).items;
  const images = async () =>
    Object.fromEntries((await all()).map(({ metadata, spec }) => [metadata.name, spec?.containers[0]?.image]));
  const status = async () => (await sets.get("db")).status;
  const report = (picks: (pod: core.Pod) => boolean = () => true) =>
    reportPods(client, clock.now(), {}, (pod) => !isReady(pod) && picks(pod));
  /** Every Pod becomes ready, again and again, until nothing moves any more. */
  const ready = async () => {
    for (let before = -1; before !== running.writes(); ) {
      before = running.writes();
      await report();
      await settle();
    }
  };
  return { ...running, sets, all, names, claims, images, status, report, ready };
}

describe("a StatefulSet", () => {
  it("starts its Pods one after the other, each with a name, labels and volumes of its own", async () => {
    const { sets, settle, names, all, claims, report, status, client } = await cluster();
    await sets.create(set(2, { volumeClaimTemplates: [claimTemplate] }));
    await settle();
    expect(await names()).toEqual(["db-0"]);
    expect(await all()).toMatchObject([
      {
        metadata: {
          generateName: "db-",
          labels: {
            app: "db",
            "statefulset.kubernetes.io/pod-name": "db-0",
            "apps.kubernetes.io/pod-index": "0",
            "controller-revision-hash": (await status())?.updateRevision,
          },
          ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "db", controller: true }],
        },
        spec: {
          hostname: "db-0",
          subdomain: "svc",
          volumes: expect.arrayContaining([{ name: "data", persistentVolumeClaim: { claimName: "data-db-0" } }]),
        },
      },
    ]);
    expect(await claims()).toMatchObject([{ metadata: { name: "data-db-0", labels: { app: "db", kind: "fast" } } }]);
    expect((await claims())[0]?.metadata.ownerReferences).toBeUndefined();
    await settle();
    expect(await names()).toEqual(["db-0"]);
    await report();
    await settle();
    expect(await names()).toEqual(["db-0", "db-1"]);
    await report();
    await settle();
    const revision = (await status())?.updateRevision ?? "";
    expect(revision).toMatch(/^db-[bcdfghjklmnpqrstvwxz2456789]{6,10}$/);
    expect(await status()).toEqual({
      observedGeneration: 1,
      replicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      currentReplicas: 2,
      updatedReplicas: 2,
      currentRevision: revision,
      updateRevision: revision,
      collisionCount: 0,
    });
    const notes = (await client.of(kinds.Event).list()).items.map(({ reason, note }) => `${reason}: ${note}`);
    expect(notes).toEqual(
      expect.arrayContaining([
        "SuccessfulCreate: create Claim data-db-0 Pod db-0 in StatefulSet db success",
        "SuccessfulCreate: create Pod db-0 in StatefulSet db successful",
        "SuccessfulCreate: create Pod db-1 in StatefulSet db successful",
      ]),
    );
  });

  it("starts all at once where that is asked for, from the ordinal that is asked for", async () => {
    const { sets, settle, names } = await cluster();
    await sets.create(set(3, { podManagementPolicy: "Parallel", ordinals: { start: 5 } }));
    await settle();
    expect(await names()).toEqual(["db-5", "db-6", "db-7"]);
    await sets.patch("db", spec({ ordinals: { start: 6 } }));
    await settle();
    expect(await names()).toEqual(["db-6", "db-7", "db-8"]);
  });

  it("takes the highest away first, one by one, and keeps their claims", async () => {
    const { sets, settle, names, claims, ready, all, client } = await cluster();
    const { spec: pod } = templateOf("db:1");
    // Pods that a node runs end slowly: the node says when.
    const template = {
      metadata: { labels },
      spec: { containers: [], ...pod, nodeName: "n", terminationGracePeriodSeconds: 30 },
    };
    await sets.create(set(3, { volumeClaimTemplates: [claimTemplate], template }));
    await ready();
    await sets.patch("db", spec({ replicas: 1 }));
    await settle();
    const ending = async () =>
      (await all())
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        .map((each) => each.metadata.name);
    expect(await ending()).toEqual(["db-2"]);
    await client.of(kinds.Pod).in("default").delete("db-2", { gracePeriodSeconds: 0 });
    await settle();
    expect(await ending()).toEqual(["db-1"]);
    await client.of(kinds.Pod).in("default").delete("db-1", { gracePeriodSeconds: 0 });
    await settle();
    expect(await names()).toEqual(["db-0"]);
    expect(await claims()).toHaveLength(3);
  });

  it("replaces from the highest down to the partition, and waits for each", async () => {
    const { sets, settle, images, report, ready, status } = await cluster();
    await sets.create(set(3, { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } } }));
    await ready();
    const before = (await status())?.currentRevision;
    await sets.patch("db", image("db:2"));
    await settle();
    expect(await images()).toEqual({ "db-0": "db:1", "db-1": "db:1", "db-2": "db:2" });
    expect(await status()).toMatchObject({ currentReplicas: 2, updatedReplicas: 1, currentRevision: before });
    await report();
    await settle();
    expect(await images()).toEqual({ "db-0": "db:1", "db-1": "db:2", "db-2": "db:2" });
    await ready();
    expect(await images()).toEqual({ "db-0": "db:1", "db-1": "db:2", "db-2": "db:2" });
    await sets.patch("db", spec({ updateStrategy: { rollingUpdate: { partition: 0 } } }));
    await ready();
    expect(await images()).toEqual({ "db-0": "db:2", "db-1": "db:2", "db-2": "db:2" });
    const after = await status();
    expect(after?.currentRevision).not.toBe(before);
    expect(after).toMatchObject({ currentRevision: after?.updateRevision, currentReplicas: 3, updatedReplicas: 3 });
  });

  it("below the partition, a Pod comes back as it was", async () => {
    const { sets, settle, images, ready, client } = await cluster();
    await sets.create(set(2, { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } }));
    await ready();
    await sets.patch("db", image("db:2"));
    await settle();
    await client.of(kinds.Pod).in("default").delete("db-0", { gracePeriodSeconds: 0 });
    await settle();
    expect(await images()).toEqual({ "db-0": "db:1", "db-1": "db:1" });
  });

  it("OnDelete: a Pod gets the new template when somebody deletes it", async () => {
    const { sets, settle, images, ready, client } = await cluster();
    await sets.create(set(2, { updateStrategy: { type: "OnDelete" } }));
    await ready();
    await sets.patch("db", image("db:2"));
    await settle();
    expect(await images()).toEqual({ "db-0": "db:1", "db-1": "db:1" });
    await client.of(kinds.Pod).in("default").delete("db-1", { gracePeriodSeconds: 0 });
    await settle();
    expect(await images()).toEqual({ "db-0": "db:1", "db-1": "db:2" });
  });

  it("a Pod that never gets ready holds up the update, until somebody deletes it", async () => {
    const { sets, settle, images, ready, client } = await cluster();
    await sets.create(set(2));
    await ready();
    await sets.patch("db", image("broken"));
    await settle();
    await sets.patch("db", image("db:3"));
    await settle();
    expect(await images()).toEqual({ "db-0": "db:1", "db-1": "broken" });
    await client.of(kinds.Pod).in("default").delete("db-1", { gracePeriodSeconds: 0 });
    await settle();
    expect(await images()).toEqual({ "db-0": "db:1", "db-1": "db:3" });
    await ready();
    expect(await images()).toEqual({ "db-0": "db:3", "db-1": "db:3" });
  });

  it("deletes what failed or ended, and it comes back under its name", async () => {
    const { sets, settle, all, ready, client, clock } = await cluster();
    await sets.create(set(2));
    await ready();
    const uids = new Map((await all()).map(({ metadata }) => [metadata.name, metadata.uid]));
    await reportPods(client, clock.now(), { phase: "Failed" }, ({ metadata }) => metadata.name === "db-0");
    await settle();
    const replaced = (await all()).find(({ metadata }) => metadata.name === "db-0");
    expect(replaced?.metadata.uid).not.toBe(uids.get("db-0"));
    expect(replaced?.status?.phase).toBe("Pending");
  });

  it("goes back to a revision that it had, and forgets old ones", async () => {
    const { sets, ready, status, client } = await cluster();
    await sets.create(set(1, { revisionHistoryLimit: 1 }));
    await ready();
    const first = (await status())?.currentRevision;
    await sets.patch("db", image("db:2"));
    await ready();
    await sets.patch("db", image("db:1"));
    await ready();
    expect((await status())?.currentRevision).toBe(first);
    const revisions = async () =>
      (await client.of(kinds.ControllerRevision).list()).items
        .map(({ revision }) => Number(revision))
        .toSorted((a, b) => a - b);
    expect(await revisions()).toEqual([2, 3]);
    await sets.patch("db", image("db:4"));
    await ready();
    expect(await revisions()).toEqual([3, 4]);
    expect((await client.of(kinds.ControllerRevision).list()).items[0]).toMatchObject({
      metadata: {
        labels: { app: "db", "controller.kubernetes.io/hash": expect.any(String) },
        ownerReferences: [{ kind: "StatefulSet", name: "db", controller: true }],
      },
      data: { spec: { template: { $patch: "replace" } } },
    });
  });

  it.each([
    { whenDeleted: "Retain", whenScaled: "Retain", stays: [undefined, undefined], left: 2 },
    { whenDeleted: "Delete", whenScaled: "Retain", stays: ["StatefulSet", "StatefulSet"], left: 2 },
    { whenDeleted: "Retain", whenScaled: "Delete", stays: [undefined], left: 1 },
    { whenDeleted: "Delete", whenScaled: "Delete", stays: ["StatefulSet"], left: 1 },
  ])("claims: $whenDeleted when deleted, $whenScaled when scaled", async ({ whenDeleted, whenScaled, stays, left }) => {
    const { sets, ready, claims, clock } = await cluster(1, [garbageCollector]);
    await sets.create(
      set(2, {
        volumeClaimTemplates: [claimTemplate],
        persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
      }),
    );
    await ready();
    const setOwns = whenDeleted === "Delete" ? "StatefulSet" : undefined;
    expect((await claims()).map(({ metadata }) => metadata.ownerReferences?.[0]?.kind)).toEqual([setOwns, setOwns]);
    await sets.patch("db", spec({ replicas: 1 }));
    await ready();
    await clock.advance(60_000);
    expect((await claims()).map(({ metadata }) => metadata.ownerReferences?.[0]?.kind)).toEqual(stays);
    await sets.patch("db", spec({ replicas: 2 }));
    await ready();
    expect(await claims()).toHaveLength(2);
    await sets.patch("db", spec({ replicas: 1 }));
    await ready();
    await clock.advance(60_000);
    expect(await claims()).toHaveLength(left);
    await sets.delete("db", { propagationPolicy: "Background" });
    await clock.advance(60_000);
    expect(await claims()).toHaveLength(whenDeleted === "Delete" ? 0 : left);
  });

  it("waits for a claim that is on its way out", async () => {
    const { sets, settle, names, client, clock } = await cluster();
    const claim = { ...claimTemplate, metadata: { name: "data-db-0", namespace: "default", finalizers: ["x/held"] } };
    await client.of(kinds.PersistentVolumeClaim).create(claim);
    await client.of(kinds.PersistentVolumeClaim).in("default").delete("data-db-0", {});
    await sets.create(set(1, { volumeClaimTemplates: [claimTemplate] }));
    await settle();
    expect(await names()).toEqual([]);
    expect((await client.of(kinds.Event).list()).items).toMatchObject([
      {
        type: "Warning",
        reason: "FailedCreate",
        note: "create Pod db-0 in StatefulSet db failed error: pvc data-db-0 is being deleted",
      },
    ]);
    await client
      .of(kinds.PersistentVolumeClaim)
      .in("default")
      .patch("data-db-0", { type: "merge", object: { metadata: { finalizers: null } } });
    await clock.advance(1_000);
    expect(await names()).toEqual(["db-0"]);
  });

  it("counts a Pod as available, and goes on, only after minReadySeconds", async () => {
    const { sets, settle, names, report, status, clock } = await cluster();
    await sets.create(set(2, { minReadySeconds: 30 }));
    await settle();
    await report();
    await settle();
    expect(await names()).toEqual(["db-0"]);
    expect(await status()).toMatchObject({ readyReplicas: 1, availableReplicas: 0 });
    await clock.advance(31_000);
    expect(await names()).toEqual(["db-0", "db-1"]);
    expect(await status()).toMatchObject({ availableReplicas: 1 });
  });

  it("takes in Pods of its name that nobody has", async () => {
    const { sets, settle, all, client } = await cluster();
    for (const name of ["db-0", "other-0"])
      await client.of(kinds.Pod).create({ ...podWith(name), metadata: { name, namespace: "default", labels } });
    await sets.create(set(1));
    await settle();
    const owned = (await all()).map(({ metadata }) => [metadata.name, metadata.ownerReferences?.length ?? 0]);
    expect(owned).toEqual([
      ["db-0", 1],
      ["other-0", 0],
    ]);
  });

  it("writes nothing when there is nothing to say", async () => {
    const { sets, ready, clock, writes } = await cluster();
    await sets.create(set(3, { volumeClaimTemplates: [claimTemplate] }));
    await ready();
    await sets.patch("db", image("db:2"));
    await ready();
    const before = writes();
    await clock.advance(24 * 3600_000);
    expect(writes()).toBe(before);
  });

  it("arrives through refusals of every kind", async () => {
    const { sets, ready, refuse, random, clock, images } = await cluster(5);
    refuse(({ method }) => {
      if (method === "GET" || random.next() > 0.3) return undefined;
      const reason = (["Conflict", "TooManyRequests", "InternalError"] as const)[random.integer(3)];
      return new StatusError(reason ?? "Conflict", "not now");
    });
    await sets.create(set(3));
    for (let at = 0; at < 30; at++) {
      await clock.advance(10_000);
      await ready();
    }
    await sets.patch("db", image("db:2"));
    for (let at = 0; at < 60; at++) {
      await clock.advance(10_000);
      await ready();
    }
    expect(await images()).toEqual({ "db-0": "db:2", "db-1": "db:2", "db-2": "db:2" });
  });

  it("converges from a stop after any write", async () => {
    for (let limit = 1; limit <= 12; limit++) {
      const first = await cluster();
      let writes = 0;
      first.refuse(({ method }) => {
        if (method !== "GET" && ++writes === limit) void first.stop();
        return undefined;
      });
      await first.sets.create(set(2, { volumeClaimTemplates: [claimTemplate] }));
      await first.ready();
      await first.stop();
      const second = await testControllers([statefulSetController], { server: first.server });
      open.push(() => second.close());
      for (let at = 0; at < 6; at++) {
        await second.settle();
        await first.report();
      }
      await second.settle();
      expect(await first.names()).toEqual(["db-0", "db-1"]);
      expect(await first.claims()).toHaveLength(2);
      expect(await first.status()).toMatchObject({ readyReplicas: 2, currentReplicas: 2 });
      expect((await first.client.of(kinds.ControllerRevision).list()).items).toHaveLength(1);
    }
  });
});

describe("the moves of an ordered StatefulSet", () => {
  const facts = fc.record({
    ordinal: fc.nat(8),
    phase: fc.constantFrom("Pending" as const, "Running" as const, "Failed" as const, "Succeeded" as const),
    ready: fc.boolean(),
    ending: fc.boolean(),
    revision: fc.constantFrom("db-old", "db-new"),
  });

  it("touch one Pod at most, and none above one that is not available", () => {
    fc.assert(
      fc.property(
        fc.nat(6),
        fc.nat(3),
        fc.uniqueArray(facts, { selector: ({ ordinal }) => ordinal }),
        (replicas, start, all) => {
          const pods = all.map(({ ordinal, phase, ready, ending, revision }) => {
            const name = `db-${ordinal}`;
            const identity = {
              "statefulset.kubernetes.io/pod-name": name,
              "apps.kubernetes.io/pod-index": `${ordinal}`,
            };
            return podWith(name, {
              phase,
              ready: ready && phase === "Running",
              ending,
              labels: { ...identity, "controller-revision-hash": revision },
            });
          });
          const wanted = set(replicas, { ordinals: { start } });
          const moves = movesOf(wanted, pods, "db-new", () => undefined, 0);
          expect(moves.create.length + moves.delete.length).toBeLessThanOrEqual(1);
          const isUp = (ordinal: number) =>
            pods.some(
              ({ metadata, status }) =>
                metadata.name === `db-${ordinal}` &&
                metadata.deletionTimestamp === undefined &&
                status?.phase === "Running" &&
                status.conditions?.[0]?.status === "True",
            );
          const ordinals = Array.from({ length: replicas }, (_, at) => start + at);
          const lowestDown = ordinals.find((ordinal) => !isUp(ordinal)) ?? Number.POSITIVE_INFINITY;
          for (const ordinal of moves.create) expect(ordinal).toBe(lowestDown);
          for (const { metadata, status } of moves.delete) {
            expect(metadata.deletionTimestamp).toBeUndefined();
            const isOver = status?.phase === "Failed" || status?.phase === "Succeeded";
            if (isOver && lowestDown !== Number.POSITIVE_INFINITY) expect(metadata.name).toBe(`db-${lowestDown}`);
            else expect(lowestDown).toBe(Number.POSITIVE_INFINITY);
          }
        },
      ),
    );
  });
});
