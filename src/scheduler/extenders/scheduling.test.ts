/** A scheduler with extenders at work: what they say counts, and what they do not say does not stop it for ever. */

import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { defaultConfiguration } from "../configuration/index.ts";
import type { ExtenderConfig } from "../framework/index.ts";
import { ALL_PLUGINS } from "../plugins/index.ts";
import { node, pod } from "../testing/index.ts";
import { type TestScheduler, testScheduler } from "../testing/test-scheduler.ts";
import { type Answer, type Asked, extenderServer } from "./testing/extender-server.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const NONE: Omit<ExtenderConfig, "urlPrefix"> = {
  filterVerb: "",
  prioritizeVerb: "",
  bindVerb: "",
  preemptVerb: "",
  weight: 1,
  timeoutMs: 5_000,
  nodeCacheCapable: true,
  ignorable: false,
  managedResources: [],
};

async function scheduler(
  config: Partial<ExtenderConfig>,
  answer: (asked: Asked) => Answer | Promise<Answer>,
): Promise<TestScheduler & { readonly asked: readonly Asked[] }> {
  const extender = await extenderServer(answer);
  open.push(() => extender.close());
  const extenders = [{ ...NONE, urlPrefix: extender.url, ...config }];
  const running = await testScheduler({ configuration: { ...defaultConfiguration(ALL_PLUGINS), extenders } });
  open.push(() => running.close());
  for (const name of ["a", "b", "c"]) await running.addNode(node(name));
  await running.settle();
  return { ...running, asked: extender.asked };
}

/** Answers come over sockets, which no virtual clock waits for. */
const eventually = <T>(look: () => Promise<T>, { settle }: TestScheduler) =>
  expect.poll(async () => {
    await settle();
    return look();
  });

describe("extenders", () => {
  it("leave some of the nodes, and prefer one of them", async () => {
    const running = await scheduler({ filterVerb: "filter", prioritizeVerb: "prioritize" }, ({ url }) =>
      url.endsWith("filter")
        ? { body: { NodeNames: ["b", "c"], FailedNodes: { a: "too hot" } } }
        : {
            body: [
              { Host: "b", Score: 0 },
              { Host: "c", Score: 10 },
            ],
          },
    );
    await running.addPod(pod("web"));
    await eventually(() => running.places(), running).toEqual({ web: "c" });
    expect(running.asked).toMatchObject([
      { body: { NodeNames: expect.arrayContaining(["a", "b", "c"]) } },
      { body: { NodeNames: expect.arrayContaining(["b", "c"]) } },
    ]);
  });

  it("are not asked for scores where one node is left", async () => {
    const running = await scheduler({ filterVerb: "filter", prioritizeVerb: "prioritize" }, () => ({
      body: { NodeNames: ["b"] },
    }));
    await running.addPod(pod("web"));
    await eventually(() => running.places(), running).toEqual({ web: "b" });
    expect(running.asked.map(({ url }) => url)).toEqual([expect.stringMatching(/filter$/)]);
  });

  it("may refuse the node that a pod was promised: then the others are looked at", async () => {
    const running = await scheduler({ filterVerb: "filter" }, ({ body }) => {
      const names = (body as { readonly NodeNames: readonly string[] }).NodeNames;
      return { body: { NodeNames: names.filter((name) => name !== "a") } };
    });
    const web = pod("web", { spec: { schedulingGates: [{ name: "example.com/a" }] } });
    await running.addPod(web);
    const pods = running.client.of(kinds.Pod).in("default");
    await pods.subresource("web", "status").patch({ type: "merge", object: { status: { nominatedNodeName: "a" } } });
    await pods.patch("web", { type: "json", operations: [{ op: "remove", path: "/spec/schedulingGates" }] });
    await eventually(async () => (await running.places()).web, running).toMatch(/b|c/);
    expect(running.asked[0]).toMatchObject({ body: { NodeNames: ["a"] } });
  });

  it("leave out nodes without a word: nobody is made to go from there, and every event is worth another try", async () => {
    let isOpen = false;
    const running = await scheduler({ filterVerb: "filter" }, ({ body }) => ({
      body: { NodeNames: isOpen ? (body as { readonly NodeNames: readonly string[] }).NodeNames : [] },
    }));
    for (const name of ["a", "b", "c"]) await running.addPod(pod(`low-${name}`, { on: name, requests: { cpu: "4" } }));
    await running.addPod(pod("vip", { spec: { priority: 1000 } }));
    await eventually(async () => (await running.pod("vip")).status?.conditions?.[0]?.message, running).toMatch(
      /^0\/3 nodes are available: 3 rejected by the extender .* preemption: 0\/3 nodes are available: 3 Preemption is not helpful for scheduling\.$/,
    );
    // Its own status counts as an event, too: it is tried once more.
    await eventually(async () => running.asked.length, running).toBe(2);
    await running.settle();
    expect(running.registry.text()).toContain('scheduler_pending_pods{queue="unschedulable"} 1');
    expect(running.registry.text()).toContain(
      'scheduler_unschedulable_pods{plugin="Extender",profile="default-scheduler"} 1',
    );
    isOpen = true;
    await running.client
      .of(kinds.Node)
      .patch("a", { type: "merge", object: { metadata: { labels: { some: "change" } } } });
    await eventually(async () => (await running.places()).vip, running).toMatch(/a|b|c/);
  });

  it("take their time: a node that comes meanwhile where another was is not taken for that", async () => {
    const running: Awaited<ReturnType<typeof scheduler>> = await scheduler(
      { filterVerb: "filter" },
      async ({ body }) => {
        const names = (body as { readonly NodeNames: readonly string[] }).NodeNames;
        if (names.includes("a")) {
          for (const name of ["a", "b", "c"]) await running.client.of(kinds.Node).delete(name);
          await running.settle();
          for (const name of ["x", "y", "z"]) await running.addNode(node(name, { unschedulable: true }));
          await running.addNode(node("good"));
          await running.settle();
        }
        return { body: { NodeNames: names } };
      },
    );
    await running.addPod(pod("web"));
    await eventually(() => running.places(), running).toEqual({ web: "good" });
  });

  it("are told of in the reason where they leave none", async () => {
    const running = await scheduler({ filterVerb: "filter" }, () => ({
      body: { NodeNames: [], FailedNodes: { a: "too hot", b: "too hot" }, FailedAndUnresolvableNodes: { c: "broken" } },
    }));
    await running.addPod(pod("web"));
    await eventually(() => running.events("web"), running).toEqual([
      expect.stringMatching(/^FailedScheduling: 0\/3 nodes are available: 1 broken, 2 too hot\./),
    ]);
    expect(await running.places()).toEqual({ web: undefined });
  });

  it("keep a Pod away from a node where it has nobody to preempt, and that is told", async () => {
    const running = await scheduler({ filterVerb: "filter" }, () => ({
      body: { NodeNames: [], FailedNodes: { a: "too hot", b: "too hot", c: "too hot" } },
    }));
    await running.addPod(pod("low", { on: "a" }));
    await running.settle();
    await running.addPod(pod("web", { spec: { priority: 1000 } }));
    await eventually(() => running.events("web"), running).toEqual([
      "FailedScheduling: 0/3 nodes are available: 3 too hot. " +
        'no new claims to deallocate, preemption: expected at least one victim pod on node "a"',
    ]);
    expect((await running.pod("web")).status?.conditions).toMatchObject([{ reason: "Unschedulable" }]);
  });

  it.each([
    ["fail", () => ({ status: 500, body: {} }), /^no new claims to deallocate, preemption: .*500/],
    [
      "find nobody",
      () => ({ body: { NodeNameToMetaVictims: { a: { Pods: [] } } } }),
      /^no new claims to deallocate, preemption: expected at least one victim pod on node "a"$/,
    ],
  ] as const)("that %s at a preemption are told of, and the Pod stays unschedulable", async (_what, answer, told) => {
    const running = await scheduler({ preemptVerb: "preempt" }, answer);
    for (const name of ["a", "b", "c"]) await running.addPod(pod(`low-${name}`, { on: name, requests: { cpu: "4" } }));
    await running.settle();
    await running.addPod(pod("web", { requests: { cpu: "1" }, spec: { priority: 1000 } }));
    await eventually(async () => (await running.pod("web")).status?.conditions ?? [], running).toMatchObject([
      {
        reason: "Unschedulable",
        message: expect.stringMatching(
          /^0\/3 nodes are available: 3 Insufficient cpu\. no new claims to deallocate, preemption: /,
        ),
      },
    ]);
    const [message = ""] = (await running.pod("web")).status?.conditions?.map((each) => each.message) ?? [];
    expect(message.replace("0/3 nodes are available: 3 Insufficient cpu. ", "")).toMatch(told);
  });

  it("that hang are given up on after their time, and asked again later", async () => {
    let hangs = true;
    const running = await scheduler({ filterVerb: "filter" }, () => (hangs ? "hang" : { body: { NodeNames: ["a"] } }));
    await running.addPod(pod("web"));
    await eventually(async () => running.asked.length, running).toBe(1);
    await running.clock.advance(5_000);
    await eventually(() => running.events("web"), running).toEqual([
      expect.stringMatching(/^FailedScheduling: .*context deadline exceeded/),
    ]);
    hangs = false;
    await running.clock.advance(60_000);
    await eventually(() => running.places(), running).toEqual({ web: "a" });
  });

  it("that may be ignored are", async () => {
    const running = await scheduler({ filterVerb: "filter", ignorable: true }, () => "hang");
    await running.addPod(pod("web"));
    await eventually(async () => running.asked.length, running).toBe(1);
    await running.clock.advance(5_000);
    await eventually(async () => (await running.places()).web, running).toMatch(/^[abc]$/);
  });

  it("are not asked about Pods that are not theirs", async () => {
    const managedResources = [{ name: "example.com/foo", ignoredByScheduler: false }];
    const running = await scheduler({ filterVerb: "filter", managedResources }, () => "hang");
    await running.addPod(pod("web"));
    await eventually(async () => (await running.places()).web, running).toMatch(/^[abc]$/);
    expect(running.asked).toEqual([]);
  });

  it("bind in the scheduler's place", async () => {
    const running: TestScheduler & { asked: readonly Asked[] } = await scheduler(
      { bindVerb: "bind" },
      async ({ body }) => {
        const { PodName, Node } = body as { PodName: string; Node: string };
        const binding = {
          apiVersion: "v1",
          kind: "Binding",
          metadata: { name: PodName },
          target: { kind: "Node", name: Node },
        };
        await running.client.of(kinds.Pod).in("default").subresource<core.Binding>(PodName, "binding").create(binding);
        return { body: { Error: "" } };
      },
    );
    await running.addPod(pod("web"));
    await eventually(async () => (await running.places()).web, running).toMatch(/^[abc]$/);
    expect(running.asked).toMatchObject([{ url: "/ext/bind", body: { PodName: "web", PodNamespace: "default" } }]);
  });
});
