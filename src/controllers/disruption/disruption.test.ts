import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type KubeObject, kinds, type policy, StatusError } from "#api";
import { podWith, reportPods, testControllers } from "../testing/index.ts";
import { budgetStatus, stillDisrupted } from "./budget-status.ts";
import { disruptionController } from "./index.ts";
import { planPod } from "./plan.ts";
import { selectorText } from "./selector-text.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const labels = { app: "web" };
const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
const budget = (spec: policy.PodDisruptionBudgetSpec, status?: policy.PodDisruptionBudgetStatus) => ({
  metadata: { name: "web", namespace: "default", generation: 1 },
  spec: { selector: { matchLabels: labels }, ...spec },
  ...(status && { status }),
});

async function cluster(server?: Awaited<ReturnType<typeof testControllers>>["server"]) {
  const running = await testControllers([disruptionController], { server });
  open.push(() => running.close());
  const { client, settle, clock } = running;
  if (server === undefined) await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const budgets = client.of(kinds.PodDisruptionBudget).in("default");
  const pods = client.of(kinds.Pod).in("default");
  const owned = async (count: number, owner?: { apiVersion: string; kind: string; name: string; uid: string }) => {
    for (let at = 0; at < count; at++)
      await pods.create({
        metadata: { name: `p${at}`, labels, ...(owner && { ownerReferences: [{ ...owner, controller: true }] }) },
        spec: { ...template.spec, nodeName: "n" },
      });
    await reportPods(client, clock.now());
    await settle();
  };
  const set = async (replicas: number) => {
    const made = await client
      .of(kinds.ReplicaSet)
      .in("default")
      .create({ metadata: { name: "web" }, spec: { replicas, selector: { matchLabels: labels }, template } });
    return { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: made.metadata.uid ?? "" };
  };
  const status = async () => {
    await settle();
    const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods, conditions } =
      (await budgets.get("web")).status ?? {};
    const [condition] = conditions ?? [];
    return [expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed, condition?.status, condition?.reason];
  };
  const events = async () => {
    await settle();
    return (await client.of(kinds.Event).list()).items.map(({ reason, note }) => `${reason} ${note}`);
  };
  return { ...running, budgets, pods, owned, set, status, events };
}

describe("a budget", () => {
  it("counts the Pods that it matches", async () => {
    const { budgets, owned, status, events, pods, clock, writes } = await cluster();
    await budgets.create(budget({ minAvailable: 2 }));
    expect(await status()).toEqual([0, 2, 0, 0, "False", "InsufficientPods"]);
    expect(await events()).toEqual(["NoPods No matching pods found"]);
    await owned(3);
    expect(await status()).toEqual([3, 2, 3, 1, "True", "SufficientPods"]);
    await pods.delete("p0", { gracePeriodSeconds: 30 });
    expect(await status()).toEqual([3, 2, 2, 0, "False", "InsufficientPods"]);
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });

  it.each([
    { spec: { maxUnavailable: 1 }, want: [5, 4, 3, 0, "False", "InsufficientPods"] },
    { spec: { maxUnavailable: "50%" }, want: [5, 2, 3, 1, "True", "SufficientPods"] },
    { spec: { minAvailable: "40%" }, want: [5, 2, 3, 1, "True", "SufficientPods"] },
    { spec: { maxUnavailable: 9 }, want: [5, 0, 3, 3, "True", "SufficientPods"] },
  ])("asks the owners where it says $spec", async ({ spec, want }) => {
    const { budgets, owned, set, status } = await cluster();
    await owned(3, await set(5));
    await budgets.create(budget(spec));
    expect(await status()).toEqual(want);
  });

  it("follows its owner's scale", async () => {
    const { budgets, owned, set, status, client } = await cluster();
    await owned(3, await set(3));
    await budgets.create(budget({ maxUnavailable: 1 }));
    expect(await status()).toEqual([3, 2, 3, 1, "True", "SufficientPods"]);
    await client
      .of(kinds.ReplicaSet)
      .in("default")
      .patch("web", { type: "merge", object: { spec: { replicas: 5 } } });
    expect(await status()).toEqual([5, 4, 3, 0, "False", "InsufficientPods"]);
  });

  it("asks owners of other kinds for their scale, and says when they have none", async () => {
    const { budgets, owned, status, client, events, pods } = await cluster();
    await client.of(kinds.CustomResourceDefinition).create({
      metadata: { name: "crews.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "crews", singular: "crew", kind: "Crew", listKind: "CrewList" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } as never },
            subresources: {
              status: {},
              scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
            },
          },
        ],
      },
    });
    const Crew = { apiVersion: "example.com/v1", kind: "Crew", plural: "crews", namespaced: true };
    const crew = await client
      .of<KubeObject & { readonly spec: object }>(Crew)
      .in("default")
      .create({
        apiVersion: "example.com/v1",
        kind: "Crew",
        metadata: { name: "c" },
        spec: { replicas: 4 },
      });
    await owned(3, { apiVersion: "example.com/v1", kind: "Crew", name: "c", uid: crew.metadata.uid ?? "" });
    await budgets.create(budget({ maxUnavailable: 2 }));
    expect(await status()).toEqual([4, 2, 3, 1, "True", "SufficientPods"]);
    const job = await client
      .of(kinds.Job)
      .in("default")
      .create({
        metadata: { name: "j" },
        spec: { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } },
      });
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "j", uid: job.metadata.uid ?? "", controller: true };
    await pods.create({ metadata: { name: "of-job", labels, ownerReferences: [owner] }, spec: template.spec });
    expect((await status()).slice(3)).toEqual([0, "False", "SyncFailed"]);
    expect((await events()).at(-1)).toBe(
      "CalculateExpectedPodCountFailed Failed to calculate the number of expected pods: jobs.batch does not implement the scale subresource",
    );
  });

  it("warns of Pods that nobody answers for", async () => {
    const { budgets, owned, events } = await cluster();
    await owned(1);
    await budgets.create(budget({ maxUnavailable: 1 }));
    const [first] = await events();
    expect(first).toMatch(
      "UnmanagedPods Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},})",
    );
  });

  it("lets go of an owner of the same name that is another", async () => {
    const { budgets, owned, client, status } = await cluster();
    await client
      .of(kinds.StatefulSet)
      .in("default")
      .create({ metadata: { name: "s" }, spec: { serviceName: "s", selector: { matchLabels: labels }, template } });
    await owned(1, { apiVersion: "apps/v1", kind: "StatefulSet", name: "s", uid: "another" });
    await budgets.create(budget({ maxUnavailable: 1 }));
    expect((await status()).slice(3)).toEqual([0, "False", "SyncFailed"]);
  });

  it("converges after failures, and from a stop after any write", async () => {
    for (let limit = 1; limit <= 3; limit++) {
      const first = await cluster();
      let count = 0;
      first.refuse(({ method, path }) => {
        if (method === "GET" || path.includes("/events")) return undefined;
        if (++count === limit) void first.stop();
        return count === 1 ? new StatusError("Conflict", "somebody was faster") : undefined;
      });
      await first.budgets.create(budget({ minAvailable: 1 }));
      await first.owned(3);
      await first.stop();
      const second = await cluster(first.server);
      await second.clock.advance(60_000);
      expect(await second.status()).toEqual([3, 1, 3, 2, "True", "SufficientPods"]);
    }
  });
});

describe("a Pod that an eviction has written down", () => {
  const start = Date.parse("2030-01-01T00:00:00Z");
  const pods = [podWith("a"), podWith("b"), podWith("c", { ending: true })];
  const disruptedPods = { a: "2030-01-01T00:00:00Z", c: "2030-01-01T00:00:00Z", gone: "2030-01-01T00:00:00Z" };
  const status = (afterMs: number) => {
    const given = budget({ minAvailable: 1 }, { disruptedPods });
    const disrupted = stillDisrupted(given, pods, start + afterMs);
    return { ...disrupted, status: budgetStatus(given, pods, pods.length, disrupted, "t") };
  };

  it("counts as gone for two minutes, then is told about", () => {
    expect(status(60_000)).toMatchObject({
      pods: { a: disruptedPods.a },
      overdue: [],
      againAfterMs: 60_001,
      status: { currentHealthy: 1, disruptionsAllowed: 0, disruptedPods: { a: disruptedPods.a } },
    });
    expect(status(120_001)).toMatchObject({
      pods: {},
      overdue: [pods[0]],
      againAfterMs: undefined,
      status: { currentHealthy: 2, disruptionsAllowed: 1 },
    });
  });

  it("is marked no longer when nothing came of it for two minutes", async () => {
    const { owned, pods: all, clock, settle } = await cluster();
    await owned(1);
    const pod = await all.get("p0");
    const time = new Date(clock.now()).toISOString().replace(/\.\d+/, "");
    const mark = {
      type: "DisruptionTarget",
      status: "True",
      reason: "EvictionByEvictionAPI",
      message: "m",
      lastTransitionTime: time,
    };
    await all.updateStatus({
      ...pod,
      status: { ...pod.status, conditions: [...(pod.status?.conditions ?? []), mark] },
    });
    await settle();
    const found = async () => (await all.get("p0")).status?.conditions?.find(({ type }) => type === "DisruptionTarget");
    await clock.advance(110_000);
    expect((await found())?.status).toBe("True");
    await clock.advance(11_000);
    expect(await found()).toMatchObject({ status: "False", observedGeneration: expect.any(Number) });
    expect((await found())?.reason).toBeUndefined();
  });

  it.each([
    ["a kubelet", { reason: "TerminationByKubelet" }, {}],
    ["one that has ended", {}, { phase: "Failed" }],
  ] as const)("stays marked: by %s", (_, mark, facts) => {
    const made = podWith("a", facts);
    const conditions = [
      { type: "DisruptionTarget", status: "True", lastTransitionTime: "2030-01-01T00:00:00Z", ...mark },
    ];
    expect(planPod({ ...made, status: { ...made.status, conditions } }, [], start + 3600_000).steps).toBeUndefined();
  });

  it("is told when several budgets match it", () => {
    const { events } = planPod(podWith("a"), [budget({}), budget({})], start);
    expect(events?.[0]?.note).toBe(
      'Pod "default"/"a" matches multiple PodDisruptionBudgets.  Chose "web" arbitrarily.',
    );
  });
});

describe("a budget's status", () => {
  it("never allows more than is healthy beyond what must be", () => {
    const facts = fc.array(fc.record({ ready: fc.boolean(), ending: fc.boolean() }), { maxLength: 20 });
    const spec = fc.oneof(
      fc.record({
        minAvailable: fc.oneof(
          fc.nat(20),
          fc.nat(100).map((n) => `${n}%`),
        ),
      }),
      fc.record({
        maxUnavailable: fc.oneof(
          fc.nat(20),
          fc.nat(100).map((n) => `${n}%`),
        ),
      }),
    );
    fc.assert(
      fc.property(facts, spec, fc.nat(30), (all, limits, expected) => {
        const pods = all.map((each, at) => podWith(`p${at}`, each));
        const healthy = all.filter(({ ready, ending }) => ready && !ending).length;
        const given = budget(limits);
        const {
          disruptionsAllowed = 0,
          desiredHealthy = 0,
          currentHealthy,
        } = budgetStatus(given, pods, expected, stillDisrupted(given, pods, 0), "t");
        expect(currentHealthy).toBe(healthy);
        expect(disruptionsAllowed).toBeGreaterThanOrEqual(0);
        if (disruptionsAllowed > 0) expect(healthy - disruptionsAllowed).toBe(desiredHealthy);
      }),
    );
  });

  it("writes selectors as they are known", () => {
    const selector = { matchExpressions: [{ key: "a", operator: "In", values: ["b", "c"] }] };
    expect(selectorText(selector)).toBe(
      "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:a,Operator:In,Values:[b c],},},}",
    );
  });
});
