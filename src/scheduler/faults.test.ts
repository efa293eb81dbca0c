/** What may go wrong: no pod is lost, no node gets more than it has, and someone is told. */
import { afterEach, describe, expect, it } from "vitest";
import { conflict, kinds, parseQuantity, StatusError, scaledValue } from "#api";
import { seededRandom } from "#base";
import { readConfiguration } from "./configuration/index.ts";
import { definePlugin, PASS, type Plugin, type PluginFactory, rejectionsOf } from "./framework/index.ts";
import { ALL_PLUGINS } from "./plugins/index.ts";
import { node, pod } from "./testing/index.ts";
import { type TestScheduler, type TestSchedulerOptions, testScheduler } from "./testing/test-scheduler.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function scheduler(options: TestSchedulerOptions = {}) {
  const running = await testScheduler(options);
  open.push(() => running.close());
  return running;
}

const cpu = (amount: string) => ({ requests: { cpu: amount } });
const isBinding = ({ path }: { readonly path: string }) => path.endsWith("/binding");

async function bind({ client }: TestScheduler, name: string, to: string): Promise<void> {
  const binding = { metadata: { name, namespace: "default" }, target: { kind: "Node", name: to } };
  await client.of(kinds.Pod).in("default").subresource(name, "binding").create(binding);
}

/** With one plugin more. */
async function picky(plugin: Partial<Plugin>): Promise<TestScheduler> {
  const factory: PluginFactory = { name: "Picky", make: () => definePlugin({ name: "Picky", ...plugin }) };
  const factories = [...ALL_PLUGINS, factory];
  const text = JSON.stringify({
    apiVersion: "kubescheduler.config.k8s.io/v1",
    kind: "KubeSchedulerConfiguration",
    profiles: [{ plugins: { multiPoint: { enabled: [{ name: "Picky" }] } } }],
  });
  const { scheduler: configuration } = readConfiguration(text, { factories, readFile: () => "" });
  return scheduler({ configuration, plugins: factories });
}

describe("a binding that fails", () => {
  it("is forgotten, told and tried again", async () => {
    const { addNode, addPod, settle, places, events, meddle, clock, pod: get } = await scheduler();
    await addNode(node("a", { allocatable: { cpu: "1" } }));
    let refusals = 1;
    meddle((request) =>
      isBinding(request) && refusals-- > 0 ? new StatusError("InternalError", "no room") : undefined,
    );
    await addPod(pod("web", cpu("1")));
    await settle();
    await clock.advance(500);
    const message = 'running Bind plugin "DefaultBinder": no room';
    expect((await get("web")).status?.conditions).toMatchObject([
      { type: "PodScheduled", status: "False", reason: "SchedulerError", message },
    ]);
    expect(await events("web")).toEqual([`FailedScheduling: ${message}`]);
    await clock.advance(1000);
    expect(await places()).toEqual({ web: "a" });
  });

  it("because another has bound the pod is the end of it", async () => {
    const running = await scheduler();
    const { addNode, addPod, settle, places, meddle, registry } = running;
    await addNode(node("a"));
    await addNode(node("b", { unschedulable: true }));
    meddle(async (request) => {
      if (isBinding(request)) await bind(running, "web", "b");
      return undefined;
    });
    await addPod(pod("web"));
    await settle();
    meddle(() => undefined);
    expect(await places()).toEqual({ web: "b" });
    for (const queue of ["active", "backoff", "unschedulable"])
      expect(registry.text()).toContain(`scheduler_pending_pods{queue="${queue}"} 0`);
  });

  it("without an answer, but done, counts as done: the node is not given away", async () => {
    const running = await scheduler();
    const { addNode, addPod, settle, places, meddle, clock, events } = running;
    await addNode(node("a", { allocatable: { cpu: "1" } }));
    let lost = true;
    meddle(async (request) => {
      if (!isBinding(request) || !lost) return undefined;
      lost = false;
      await bind(running, "web", "a");
      return new StatusError("Timeout", "the connection broke");
    });
    await addPod(pod("web", cpu("1")));
    await addPod(pod("next", cpu("1")));
    await settle();
    await clock.advance(20_000);
    expect(await places()).toEqual({ web: "a", next: undefined });
    expect(await events("web")).toEqual(["Scheduled: Successfully assigned default/web to a"]);
  });

  it("because the node vanished: the pod goes elsewhere", async () => {
    const running = await scheduler();
    const { addNode, addPod, settle, places, meddle, client, clock } = running;
    await addNode(node("a"));
    let first = true;
    meddle(async (request) => {
      if (!isBinding(request) || !first) return undefined;
      first = false;
      await client.of(kinds.Node).delete("a");
      await addNode(node("b"));
      return conflict({ group: "", resource: "pods/binding" }, "web", "there is no such node");
    });
    await addPod(pod("web"));
    await settle();
    await clock.advance(2000);
    expect(await places()).toEqual({ web: "b" });
  });
});

describe("a plugin that says no once a node was chosen", () => {
  const rejections = rejectionsOf("Picky");
  it.each<[stage: string, plugin: Partial<Plugin>, reason: string, message: string]>([
    [
      "reserve",
      { reserve: () => rejections.unschedulable("not there") },
      "Unschedulable",
      "0/1 nodes are available: 1 not there.",
    ],
    [
      "permit",
      { permit: () => rejections.unschedulable("not so", "not now") },
      "Unschedulable",
      "0/1 nodes are available: 1 not now, 1 not so.",
    ],
    [
      "permit, after a while",
      { permit: () => ({ kind: "wait", timeoutMs: 100 }) },
      "Unschedulable",
      "0/1 nodes are available: 1 rejected due to timeout after waiting 100ms at plugin Picky.",
    ],
    ["preBind", { preBind: async () => rejections.unschedulable("not like this") }, "Unschedulable", "not like this"],
    [
      "preBind, by failing",
      {
        preBind: async () => {
          throw new Error("broken");
        },
      },
      "SchedulerError",
      'running PreBind plugin "Picky": broken',
    ],
  ])("%s", async (_stage, plugin, reason, message) => {
    const { addNode, addPod, settle, events, clock, pod: get } = await picky(plugin);
    for (const name of ["a", "b"]) await addNode(node(name));
    await addPod(pod("web"));
    await settle();
    await clock.advance(150);
    const { status } = await get("web");
    expect(status?.conditions).toMatchObject([{ status: "False", reason, message }]);
    expect(status?.nominatedNodeName).toBeUndefined();
    expect(await events("web")).toEqual([`FailedScheduling: ${message}`]);
  });
});

describe("a pod that a plugin keeps waiting", () => {
  it("goes back to the queue when it is preempted, and its place is free", async () => {
    const { addNode, addPod, settle, places, events, clock } = await picky({
      permit: (_, { priority }) => (priority > 0 ? PASS : { kind: "wait", timeoutMs: 60_000 }),
    });
    await addNode(node("a", { allocatable: { cpu: "1" } }));
    await addPod(pod("low", cpu("1")));
    await settle();
    await addPod(pod("vip", { ...cpu("1"), spec: { priority: 1000 } }));
    await settle();
    expect(await places()).toEqual({ low: undefined, vip: "a" });
    const told = await events("low");
    expect(told).toHaveLength(2);
    expect(told).toContain("FailedScheduling: 0/1 nodes are available: 1 preempted.");
    expect(told).toContainEqual(expect.stringMatching(/^Preempted: Preempted by pod .* on node a$/));
    await clock.advance(2_000);
    expect(await events("low")).toContainEqual(expect.stringMatching(/^FailedScheduling: .* 1 Insufficient cpu\./));
  });
});

describe("pods that go while they are placed", () => {
  it("leave no trace", async () => {
    const { addNode, addPod, settle, places, meddle, client, registry, clock } = await scheduler();
    await addNode(node("a", { allocatable: { cpu: "1" } }));
    let first = true;
    meddle(async (request) => {
      if (!isBinding(request) || !first) return undefined;
      first = false;
      await client.of(kinds.Pod).in("default").delete("web", { gracePeriodSeconds: 0 });
      return undefined;
    });
    await addPod(pod("web", cpu("1")));
    await settle();
    await addPod(pod("next", cpu("1")));
    await settle();
    await clock.advance(2000);
    expect(await places()).toEqual({ next: "a" });
    expect(registry.text()).toContain('scheduler_pending_pods{queue="unschedulable"} 0');
  });
});

describe("an API server that fails for a while", () => {
  it("loses no pod", async () => {
    const { addNode, addPod, settle, places, meddle, clock } = await scheduler();
    for (const name of ["a", "b"]) await addNode(node(name));
    let down = true;
    meddle(() => (down ? new StatusError("ServiceUnavailable", "down") : undefined));
    for (let at = 0; at < 10; at++) await addPod(pod(`p${at}`));
    await settle();
    await clock.advance(30_000);
    expect(Object.values(await places()).filter((name) => name !== undefined)).toEqual([]);
    down = false;
    await clock.advance(60_000);
    expect(Object.values(await places()).filter((name) => name === undefined)).toEqual([]);
  });
});

describe("two schedulers at once", () => {
  it("bind every pod once", async () => {
    const one = await scheduler({ seed: 1 });
    const two = await scheduler({ server: one.server, seed: 2 });
    for (let at = 0; at < 4; at++) await one.addNode(node(`n${at}`));
    for (let at = 0; at < 30; at++) await one.addPod(pod(`p${at}`, cpu("100m")));
    await one.settle();
    await one.clock.advance(20_000);
    const places = await one.places();
    expect(Object.values(places).filter((name) => name === undefined)).toEqual([]);
    for (const name of Object.keys(places)) {
      const told = (await one.events(name)).filter((text) => text.startsWith("Scheduled"));
      expect(told, name).toHaveLength(1);
    }
    for (const { registry } of [one, two])
      expect(registry.text()).toContain('scheduler_pending_pods{queue="unschedulable"} 0');
  });
});

describe("whatever happens", () => {
  it.each([1, 2, 3, 4, 5, 6])("no node gets more than it has, no pod is lost (%i)", async (seed) => {
    const random = seededRandom(seed);
    const running = await scheduler({ seed });
    const { addNode, addPod, settle, meddle, client, clock } = running;
    meddle((request) => {
      if (request.method === "GET" || random.next() > 0.2) return undefined;
      return random.pick([new StatusError("InternalError", "oh"), new StatusError("ServiceUnavailable", "later")]);
    });
    for (let at = 0; at < 4; at++) await addNode(node(`n${at}`, { allocatable: { cpu: "2", pods: "5" } }));
    let made = 0;
    for (let step = 0; step < 40; step++) {
      const what = random.integer(10);
      const name = `p${made}`;
      if (what < 6) {
        made += 1;
        const priority = random.integer(3);
        const parts = { ...cpu(`${100 + random.integer(900)}m`), spec: { priority, terminationGracePeriodSeconds: 0 } };
        await addPod(pod(name, parts));
      } else if (what < 8 && made > 0) {
        await client
          .of(kinds.Pod)
          .in("default")
          .delete(`p${random.integer(made)}`)
          .catch(gone);
      } else if (what === 8) {
        await client.of(kinds.Node).delete("n3").catch(gone);
      } else await addNode(node("n3", { allocatable: { cpu: "2", pods: "5" } })).catch(gone);
      if (random.next() < 0.5) await settle();
      if (random.next() < 0.2) await clock.advance(random.integer(3000));
      await check(running);
    }
    meddle(() => undefined);
    await clock.advance(400_000);
    await check(running);
    const { items } = await client.of(kinds.Pod).list();
    // Whatever waits waits for a reason that is still true: it would fit nowhere.
    for (const { spec, status } of items.filter((each) => each.spec?.nodeName === undefined)) {
      expect(status?.conditions?.[0], JSON.stringify(spec)).toMatchObject({ reason: "Unschedulable" });
    }
  });
});

function gone(error: unknown): void {
  if (!(error instanceof StatusError)) throw error;
}

async function check({ client }: TestScheduler): Promise<void> {
  const used = new Map<string, { cpu: number; pods: number }>();
  for (const { spec } of (await client.of(kinds.Pod).list()).items) {
    if (spec?.nodeName === undefined) continue;
    const sum = used.get(spec.nodeName) ?? { cpu: 0, pods: 0 };
    sum.cpu += Number(scaledValue(parseQuantity(spec.containers[0]?.resources?.requests?.cpu ?? "0"), -3));
    sum.pods += 1;
    used.set(spec.nodeName, sum);
  }
  for (const [name, { cpu: milli, pods }] of used) {
    expect(milli, name).toBeLessThanOrEqual(2000);
    expect(pods, name).toBeLessThanOrEqual(5);
  }
}
