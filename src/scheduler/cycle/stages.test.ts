/**
 * Plugins that reserve, permit and bind: what they refuse, hold up or fail at leaves no trace, and stops nobody else.
 */
import { afterEach, describe, expect, it } from "vitest";
import { kinds, StatusError } from "#api";
import { defaultConfiguration } from "../configuration/index.ts";
import {
  definePlugin,
  EXTENSION_POINTS,
  PASS,
  type Plugin,
  type PluginContext,
  type PluginFactory,
  rejectionsOf,
} from "../framework/index.ts";
import { ALL_PLUGINS } from "../plugins/index.ts";
import { node, pod } from "../testing/index.ts";
import { testScheduler } from "../testing/test-scheduler.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const cpu = (amount: string) => ({ requests: { cpu: amount } });
const { unschedulable } = rejectionsOf("Own");

/** With one more plugin, wherever it takes part. */
async function scheduler(stages: Omit<Plugin, "name"> | ((context: PluginContext) => Omit<Plugin, "name">)) {
  const own: PluginFactory = {
    name: "Own",
    make: (_, context) =>
      definePlugin({ name: "Own", ...(typeof stages === "function" ? stages(context) : stages) } as Plugin),
  };
  const usual = defaultConfiguration(ALL_PLUGINS);
  const profiles = usual.profiles.map((profile) => ({
    ...profile,
    plugins: Object.fromEntries(
      EXTENSION_POINTS.map((point) => [
        point,
        point === "queueSort" ? profile.plugins[point] : [{ name: "Own", weight: 1 }, ...profile.plugins[point]],
      ]),
    ) as typeof profile.plugins,
  }));
  const running = await testScheduler({ configuration: { ...usual, profiles }, plugins: [own] });
  open.push(() => running.close());
  return running;
}

const messageOf = async (running: Awaited<ReturnType<typeof scheduler>>, name: string) => {
  const [condition] = (await running.pod(name)).status?.conditions ?? [];
  return { reason: condition?.reason, message: condition?.message };
};

describe("a plugin that", () => {
  it("fails to reserve costs the pod a backoff, not its place in the world", async () => {
    let faults = 1;
    const running = await scheduler({
      reserve: () => {
        if (faults-- > 0) throw new Error("out of order");
        return PASS;
      },
    });
    await running.addNode(node("a", { allocatable: { cpu: "1" } }));
    await running.addPod(pod("web", cpu("1")));
    await running.settle();
    expect(await messageOf(running, "web")).toEqual({
      reason: "SchedulerError",
      message: 'running Reserve plugin "Own": out of order',
    });
    await running.clock.advance(1000);
    expect(await running.places()).toEqual({ web: "a" });
  });

  it("refuses to reserve or to permit is told of as the one node that counts", async () => {
    for (const stage of ["reserve", "permit"] as const) {
      const running = await scheduler({ [stage]: () => unschedulable("not today", "never") });
      for (const name of ["a", "b"]) await running.addNode(node(name));
      await running.addPod(pod("web"));
      await running.settle();
      expect(await messageOf(running, "web")).toEqual({
        reason: "Unschedulable",
        message: "0/1 nodes are available: 1 never, 1 not today.",
      });
    }
  });

  it("permits nothing in time is told of with the time, in its words", async () => {
    const running = await scheduler({ permit: () => ({ kind: "wait", timeoutMs: 90_000 }) });
    await running.addNode(node("a"));
    await running.addPod(pod("web"));
    await running.settle();
    await running.clock.advance(90_000);
    expect(await messageOf(running, "web")).toEqual({
      reason: "Unschedulable",
      message: "0/1 nodes are available: 1 rejected due to timeout after waiting 1m30s at plugin Own.",
    });
    expect(running.registry.text()).toContain('scheduler_permit_wait_duration_seconds_count{result="Unschedulable"} 1');
  });

  it("makes pods wait for no longer than a quarter of an hour", async () => {
    const running = await scheduler({ permit: () => ({ kind: "wait", timeoutMs: 3_600_000 }) });
    await running.addNode(node("a"));
    await running.addPod(pod("web"));
    await running.settle();
    await running.clock.advance(900_000);
    expect((await messageOf(running, "web")).message).toContain("after waiting 15m0s at plugin Own");
  });

  it("makes many wait for long holds up nobody else", async () => {
    const running = await scheduler({
      permit: (_, { name }) => (name.startsWith("w") ? { kind: "wait", timeoutMs: 600_000 } : PASS),
    });
    await running.addNode(node("a", { allocatable: { pods: "1000" } }));
    for (let at = 0; at < 220; at++) await running.addPod(pod(`w${at}`));
    await running.addPod(pod("other"));
    await running.settle();
    await running.clock.advance(3000);
    expect((await running.places()).other).toBe("a");
  });

  it("still makes pods wait when the scheduler ends has nothing told about them", async () => {
    const running = await scheduler({ permit: () => ({ kind: "wait", timeoutMs: 600_000 }) });
    await running.addNode(node("a"));
    await running.addPod(pod("web"));
    await running.settle();
    await running.stop();
    expect(await running.events("web")).toEqual([]);
  });

  it("refuses before the binding is asked again soon, whatever happens meanwhile", async () => {
    let refusals = 1;
    const running = await scheduler({
      preBind: async () => (refusals-- > 0 ? unschedulable("not ready") : PASS),
    });
    await running.addNode(node("a"));
    await running.addPod(pod("web"));
    await running.settle();
    expect(await messageOf(running, "web")).toEqual({ reason: "Unschedulable", message: "not ready" });
    await running.clock.advance(1000);
    expect(await running.places()).toEqual({ web: "a" });
  });

  it("fails before the binding is named", async () => {
    const running = await scheduler({
      preBind: async () => {
        throw new Error("no disk");
      },
    });
    await running.addNode(node("a"));
    await running.addPod(pod("web"));
    await running.settle();
    await running.clock.advance(500);
    expect(await messageOf(running, "web")).toEqual({
      reason: "SchedulerError",
      message: 'running PreBind plugin "Own": no disk',
    });
    const { uid = "" } = (await running.pod("web")).metadata;
    expect(running.explanations.of(uid).map(({ outcome }) => outcome)).toEqual([
      { kind: "scheduled", node: "a" },
      { kind: "error", message: 'running PreBind plugin "Own": no disk' },
    ]);
  });

  it.each(["permit", "preBind"] as const)(
    "takes its time to %s lets the pod's node be seen meanwhile",
    async (stage) => {
      const running = await scheduler(({ clock, waiting }) =>
        stage === "preBind"
          ? {
              preBind: async (_, { name }) => {
                if (name === "slow") await clock.sleep(5000);
                return PASS;
              },
            }
          : {
              permit: (_, { name, uid }) => {
                if (name !== "slow") return PASS;
                clock.timer(5000, () => waiting.allow(uid, "Own"));
                return { kind: "wait", timeoutMs: 60_000 };
              },
            },
      );
      await running.addNode(node("a"));
      await running.addPod(pod("slow"));
      await running.addPod(pod("quick"));
      await running.settle();
      await running.clock.advance(3000);
      expect((await running.pod("slow")).status?.nominatedNodeName).toBe("a");
      await running.clock.advance(4000);
      expect(await running.places()).toEqual({ slow: "a", quick: "a" });
      expect((await running.pod("slow")).status?.nominatedNodeName).toBeUndefined();
      // What is over within milliseconds is not announced.
      const told = running.requests().flatMap(({ path }) => /\/pods\/(\w+)\/status$/.exec(path)?.[1] ?? []);
      expect(told).toEqual(["slow"]);
    },
  );

  it("fails after the binding changes nothing", async () => {
    const running = await scheduler({
      postBind: () => {
        throw new Error("too late");
      },
    });
    await running.addNode(node("a"));
    await running.addPod(pod("web"));
    await running.settle();
    expect(await running.events("web")).toEqual(["Scheduled: Successfully assigned default/web to a"]);
    expect(running.registry.text()).toContain('result="scheduled",profile="default-scheduler"} 1');
  });
});

describe("a node that was kept for a pod", () => {
  /** It waits with the only cpu there is. */
  async function waiting() {
    const running = await scheduler({
      permit: (_, { name }) => (name === "slow" ? { kind: "wait", timeoutMs: 600_000 } : PASS),
    });
    await running.addNode(node("a", { allocatable: { cpu: "1" } }));
    const slow = pod("slow", cpu("1"));
    await running.addPod({ ...slow, metadata: { ...slow.metadata, finalizers: ["example.com/keep"] } });
    await running.settle();
    await running.addPod(pod("next", cpu("1")));
    await running.settle();
    expect(await running.places()).toEqual({ slow: undefined, next: undefined });
    return running;
  }

  it("is free as soon as that begins to go", async () => {
    const running = await waiting();
    await running.client.of(kinds.Pod).in("default").delete("slow");
    await running.settle();
    await running.clock.advance(2000);
    expect(await running.places()).toEqual({ slow: undefined, next: "a" });
  });

  it("is given back at once when that is bound elsewhere", async () => {
    const given: string[] = [];
    const running = await scheduler({
      reserve: () => PASS,
      unreserve: (_, { name }, on) => given.push(`${name} ${on}`),
      permit: () => ({ kind: "wait", timeoutMs: 600_000 }),
    });
    await running.addNode(node("a"));
    await running.addPod(pod("slow"));
    await running.settle();
    const target = { kind: "Node", name: "b" };
    const binding = { metadata: { name: "slow", namespace: "default" }, target };
    await running.client.of(kinds.Pod).in("default").subresource("slow", "binding").create(binding);
    await running.settle();
    expect(given).toEqual(["slow a"]);
    expect(await running.places()).toEqual({ slow: "b" });
    expect(await running.events("slow")).toEqual([]);
  });

  it("is free for others once it is no longer promised", async () => {
    const running = await scheduler({});
    await running.addNode(node("a", { allocatable: { cpu: "1" } }));
    const labels = { nodeSelector: { never: "there" } };
    await running.addPod(pod("vip", { ...cpu("1"), spec: { ...labels, priority: 10 } }));
    await running.settle();
    const status = running.client.of(kinds.Pod).in("default").subresource("vip", "status");
    await status.patch({ type: "merge", object: { status: { nominatedNodeName: "a" } } });
    await running.settle();
    await running.addPod(pod("next", cpu("1")));
    await running.settle();
    expect((await running.places()).next).toBeUndefined();
    await running.clock.advance(20_000);
    await status.patch({ type: "merge", object: { status: { nominatedNodeName: null } } });
    await running.settle();
    expect((await running.places()).next).toBe("a");
  });

  it("is promised no longer where the binding fails", async () => {
    const running = await scheduler({});
    await running.addNode(node("a", { allocatable: { cpu: "1" } }));
    running.meddle(({ path }) =>
      path.endsWith("/binding") ? new StatusError("Forbidden", "no binding today") : undefined,
    );
    const vip = pod("vip", cpu("1"));
    await running.addPod({
      ...vip,
      spec: { containers: [], ...vip.spec, schedulingGates: [{ name: "example.com/a" }] },
    });
    const pods = running.client.of(kinds.Pod).in("default");
    await pods.subresource("vip", "status").patch({ type: "merge", object: { status: { nominatedNodeName: "a" } } });
    await pods.patch("vip", { type: "json", operations: [{ op: "remove", path: "/spec/schedulingGates" }] });
    await running.settle();
    expect((await running.pod("vip")).status?.nominatedNodeName).toBeUndefined();
    expect(await messageOf(running, "vip")).toEqual({
      reason: "SchedulerError",
      message: 'running Bind plugin "DefaultBinder": no binding today',
    });
  });
});

describe("what is told", () => {
  it("names the scheduler and the machine", async () => {
    const running = await scheduler({});
    await running.addNode(node("a"));
    await running.addPod(pod("web"));
    await running.settle();
    expect((await running.client.of(kinds.Event).list()).items).toMatchObject([
      { reportingController: "default-scheduler", reportingInstance: "default-scheduler-test" },
    ]);
  });

  it("says that a pod which is being deleted is not tried", async () => {
    const running = await scheduler({});
    const web = pod("web");
    await running.addPod({ ...web, metadata: { ...web.metadata, finalizers: ["example.com/keep"] } });
    await running.settle();
    await running.client.of(kinds.Pod).in("default").delete("web");
    await running.addNode(node("a"));
    await running.settle();
    expect(await running.events("web")).toContain("FailedScheduling: skip schedule deleting pod: default/web");
    expect(await running.places()).toEqual({ web: undefined });
  });
});
