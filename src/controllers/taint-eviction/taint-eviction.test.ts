import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type core, formatTime, instantOf, kinds, StatusError } from "#api";
import { seededRandom } from "#base";
import { podWith, type TestControllers, testControllers } from "../testing/index.ts";
import { taintEvictionController } from "./index.ts";
import { fateOf } from "./plan.ts";
import { toleranceOf, tolerates } from "./tolerations.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const NOW = Date.parse("2030-01-01T01:00:00Z");
const at = (ms: number) => formatTime(instantOf(ms));
const taint = (key: string, value?: string, timeAdded?: string): core.Taint => ({
  key,
  effect: "NoExecute",
  ...(value !== undefined && { value }),
  ...(timeAdded !== undefined && { timeAdded }),
});

describe("what a toleration tolerates", () => {
  it.each<{ toleration: core.Toleration; taint: core.Taint; want: boolean }>([
    { toleration: { operator: "Exists" }, taint: taint("a"), want: true },
    { toleration: { key: "a", operator: "Exists" }, taint: taint("a", "1"), want: true },
    { toleration: { key: "b", operator: "Exists" }, taint: taint("a"), want: false },
    { toleration: { key: "a", value: "1" }, taint: taint("a", "1"), want: true },
    { toleration: { key: "a", value: "2" }, taint: taint("a", "1"), want: false },
    { toleration: { key: "a" }, taint: taint("a"), want: true },
    { toleration: { key: "a", effect: "NoExecute" }, taint: taint("a"), want: true },
    { toleration: { key: "a", effect: "NoSchedule" }, taint: taint("a"), want: false },
  ])("$toleration and $taint: $want", ({ toleration, taint, want }) => {
    expect(tolerates(toleration, taint)).toBe(want);
  });
});

describe("the fate of a Pod", () => {
  const pod = (...tolerations: core.Toleration[]): core.Pod => ({
    ...podWith("p", { node: "n", created: at(NOW - 3600_000) }),
    spec: { containers: [], nodeName: "n", tolerations },
  });
  const fresh = (...tolerations: core.Toleration[]): core.Pod => ({
    ...pod(...tolerations),
    status: { conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: at(NOW - 1000) }] },
  });
  const seconds = (key: string, tolerationSeconds?: number): core.Toleration => ({
    key,
    operator: "Exists",
    ...(tolerationSeconds !== undefined && { tolerationSeconds }),
  });
  it.each<{ name: string; pod: core.Pod; taints: core.Taint[]; until?: number; want: string | number }>([
    { name: "without taints", pod: pod(), taints: [], want: "stays" },
    { name: "without tolerations", pod: pod(), taints: [taint("a")], want: "goes" },
    { name: "with one for each taint", pod: pod(seconds("a")), taints: [taint("a")], want: "stays" },
    { name: "with one too few", pod: pod(seconds("a")), taints: [taint("a"), taint("b")], want: "goes" },
    { name: "for some time, from now", pod: pod(seconds("a", 60)), taints: [taint("a")], want: 60_000 },
    {
      name: "for some time, from when the taint came",
      pod: pod(seconds("a", 60)),
      taints: [taint("a", "", at(NOW - 20_000))],
      want: 40_000,
    },
    {
      name: "for some time, from when it came itself",
      pod: fresh(seconds("a", 60)),
      taints: [taint("a", "", at(NOW - 20_000))],
      want: 59_000,
    },
    {
      name: "when its time is over",
      pod: pod(seconds("a", 5)),
      taints: [taint("a", "", at(NOW - 5_000))],
      want: "goes",
    },
    { name: "for no time", pod: pod(seconds("a", 0)), taints: [taint("a")], want: "goes" },
    {
      name: "for the shortest of several",
      pod: pod(seconds("a", 60), seconds("b", 30), seconds("c")),
      taints: ["a", "b", "c"].map((key) => taint(key)),
      want: 30_000,
    },
    {
      name: "that waits already: no longer than before",
      pod: pod(seconds("b", 60)),
      taints: [taint("b")],
      until: NOW + 10_000,
      want: 10_000,
    },
    {
      name: "that waits already: but less",
      pod: pod(seconds("b", 5)),
      taints: [taint("b")],
      until: NOW + 10_000,
      want: 5_000,
    },
    {
      name: "from a clock that is ahead",
      pod: pod(seconds("a", 60)),
      taints: [taint("a", "", at(NOW + 600_000))],
      want: 60_000,
    },
  ])("$name", ({ pod, taints, until, want }) => {
    const fate = fateOf(pod, taints, until, NOW);
    expect(fate.kind === "waits" ? fate.untilMs - NOW : fate.kind).toBe(want);
  });

  it("is never later than the earliest of its tolerations says", () => {
    const some = fc.record({
      key: fc.constantFrom("a", "b", "c"),
      tolerationSeconds: fc.option(fc.nat(600), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(some), fc.uniqueArray(fc.constantFrom("a", "b", "c")), (given, keys) => {
        const tolerations = given.map(({ key, tolerationSeconds }) => seconds(key, tolerationSeconds));
        const taints = keys.map((key) => taint(key));
        const fate = toleranceOf(tolerations, taints, () => NOW);
        const used = taints.map((each) => tolerations.find((toleration) => tolerates(toleration, each)));
        if (used.some((each) => each === undefined)) expect(fate).toEqual({ kind: "none" });
        if (fate.kind === "until")
          for (const each of used)
            expect(fate.ms).toBeLessThanOrEqual(NOW + Number(each?.tolerationSeconds ?? 600) * 1000);
      }),
    );
  });
});

async function cluster(server?: TestControllers["server"]) {
  const running = await testControllers([taintEvictionController], { server });
  open.push(() => running.close());
  const { client } = running;
  const pods = client.of(kinds.Pod).in("default");
  if (server === undefined) {
    await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
    await client.of(kinds.Node).create({ metadata: { name: "n" } });
  }
  const create = (name: string, tolerations: core.Toleration[] = [], nodeName = "n") =>
    pods.create({ metadata: { name }, spec: { nodeName, tolerations, containers: [{ name: "c", image: "i" }] } });
  const taints = (...list: core.Taint[]) =>
    client
      .of(kinds.Node)
      .patch("n", { type: "merge", object: { spec: { taints: list.map((each) => ({ ...each })) } } });
  const ending = async () =>
    (await pods.list()).items.filter(({ metadata }) => metadata.deletionTimestamp).map(({ metadata }) => metadata.name);
  const told = async () =>
    (await client.of(kinds.Event).in("default").list()).items.map(({ reason, note }) => `${reason}: ${note}`);
  return { ...running, pods, create, taints, ending, told };
}

const forSeconds = (tolerationSeconds: number): core.Toleration => ({
  key: "x",
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds,
});

describe("evictions by taints", () => {
  it("mark a Pod, then delete it with its own grace period", async () => {
    const { create, taints, settle, pods, told } = await cluster();
    await create("a");
    await taints({ ...taint("x"), effect: "NoSchedule" });
    await settle();
    expect((await pods.get("a")).metadata.deletionTimestamp).toBeUndefined();
    await taints(taint("x"));
    await settle();
    expect(await pods.get("a")).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 30 },
      status: {
        conditions: [
          {
            type: "DisruptionTarget",
            status: "True",
            reason: "DeletionByTaintManager",
            message: "Taint manager: deleting due to NoExecute taint",
          },
        ],
      },
    });
    expect(await told()).toEqual(["TaintManagerEviction: Marking for deletion Pod default/a"]);
  });

  it("wait as long as the Pod tolerates it, and end when the taint goes", async () => {
    const { create, taints, clock, ending, told, pods, writes } = await cluster();
    await create("short", [forSeconds(30)]);
    await create("long", [forSeconds(120)]);
    await create("always", [{ operator: "Exists" }]);
    await taints(taint("x"));
    await clock.advance(29_000);
    expect(await ending()).toEqual([]);
    await clock.advance(2_000);
    expect(await ending()).toEqual(["short"]);
    await taints();
    await clock.advance(3600_000);
    expect(await ending()).toEqual(["short"]);
    expect((await told()).sort()).toEqual([
      "TaintManagerEviction: Cancelling deletion of Pod default/long",
      "TaintManagerEviction: Marking for deletion Pod default/short",
    ]);
    const before = writes();
    await pods.delete("long", { gracePeriodSeconds: 0 });
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });

  it("do not start anew when one taint takes the place of another", async () => {
    const { create, taints, clock, ending } = await cluster();
    await create("a", [forSeconds(60), { ...forSeconds(60), key: "y" }]);
    await taints(taint("x"));
    await clock.advance(40_000);
    await taints(taint("y", undefined, at(clock.now())));
    await clock.advance(19_000);
    expect(await ending()).toEqual([]);
    await clock.advance(2_000);
    expect(await ending()).toEqual(["a"]);
  });

  it("meet a Pod that is placed later, and one that tolerates less than before", async () => {
    const { create, taints, clock, settle, ending, client, pods } = await cluster();
    await taints(taint("x"));
    const late = await create("late", [], "");
    await create("stays", [{ key: "x", operator: "Exists" }]);
    await settle();
    expect(await ending()).toEqual([]);
    const target = { apiVersion: "v1", kind: "Node", name: "n" };
    await pods.subresource("late", "binding").create({ metadata: { name: late.metadata.name ?? "" }, target } as never);
    await settle();
    expect(await ending()).toEqual(["late"]);
    await client.of(kinds.Node).patch("n", {
      type: "merge",
      object: { spec: { taints: [{ key: "y", effect: "NoExecute" }] } },
    });
    await clock.advance(1_000);
    expect(await ending()).toEqual(["late", "stays"]);
  });

  it("come about after being killed between any two writes, whatever fails", async () => {
    for (let limit = 1; limit <= 4; limit++) {
      const first = await cluster();
      const random = seededRandom(limit);
      for (const name of ["a", "b"]) await first.create(name, [forSeconds(10)]);
      let count = 0;
      first.refuse(({ method, path }) => {
        if (method === "GET" || path.includes("events")) return undefined;
        if (++count === limit) void first.stop();
        return random.integer(2) === 0 ? new StatusError("InternalError", "not now") : undefined;
      });
      await first.taints(taint("x", undefined, at(first.clock.now())));
      await first.clock.advance(15_000);
      await first.stop();
      const second = await cluster(first.server);
      // The time that has passed counts.
      await second.clock.advance(1_000);
      expect(await second.ending()).toEqual(["a", "b"]);
    }
  });
});
