import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import {
  type ClusterEvent,
  definePlugin,
  PASS,
  type Plugin,
  type PodInfo,
  type Rejection,
  rejectionsOf,
} from "../framework/index.ts";
import { prioritySort } from "../plugins/priority-sort.ts";
import { PodInfos, ResourceNames } from "../snapshot/index.ts";
import { node, pod } from "../testing/index.ts";
import { type Failure, SchedulingQueue, Wakes } from "./index.ts";

const infos = new PodInfos(new ResourceNames());
const info = (name: string, priority = 0): PodInfo => infos.of(pod(name, { spec: { priority } }));
const sort = prioritySort.make({} as never, {} as never);

function rejectedBy(...plugins: string[]): Failure {
  return { kind: "rejected", rejectors: new Set(plugins), pending: new Set() };
}

const NODE_ADDED: ClusterEvent = { resource: "Node", action: "add", new: node("n") };
const POD_GONE: ClusterEvent = { resource: "AssignedPod", action: "delete", old: pod("gone", { on: "n" }) };

const queueWith = (...plugins: Plugin[]) => queueParking(undefined, ...plugins);

function queueParking(parkedMs: number | undefined, ...plugins: Plugin[]) {
  const clock = new VirtualClock();
  const wakes = new Wakes(plugins, () => {});
  const stages = { preEnqueue: plugins.filter(({ preEnqueue }) => preEnqueue), queueSort: sort };
  const incoming: string[] = [];
  const queue = new SchedulingQueue({
    onIncoming: (name, event) => incoming.push(`${name} ${event}`),
    profileOf: () => ({ stages, wakes }),
    queueSort: (a, b) => sort.queueSort?.(a, b) ?? false,
    clock,
    initialBackoffMs: 1000,
    maxBackoffMs: 10_000,
    parkedMs,
  });
  const take = () => queue.take()?.pod.name;
  /** Tries it and lets it fail. */
  const failed = (failure: Failure) => {
    const queued = queue.take();
    if (queued !== undefined) queue.failed(queued.pod.uid, failure);
    return queued?.pod.name;
  };
  return { queue, clock, take, failed, incoming };
}

const fit = definePlugin({
  name: "Fit",
  wakes: [
    { resource: "Node", actions: ["add"], hint: (_, event) => (event.new?.metadata.name === "n" ? "queue" : "skip") },
    { resource: "AssignedPod", actions: ["delete"] },
  ],
});

/** Holds one pod back. */
const gateOn = (name: string) =>
  definePlugin({
    name: "Gate",
    preEnqueue: (pod) => (pod.name === name ? rejectionsOf("Gate").unresolvable("not yet") : PASS),
  });

describe("the queue", () => {
  it("gives the most important first, then the oldest", () => {
    const { queue, take } = queueWith();
    for (const [name, priority] of [
      ["a", 0],
      ["b", 5],
      ["c", 5],
      ["d", 10],
    ] as const)
      queue.add(info(name, priority));
    expect([take(), take(), take(), take(), take()]).toEqual(["d", "b", "c", "a", undefined]);
  });

  it("parks a rejected pod until an event that its rejector waits for", async () => {
    const { queue, clock, take, failed } = queueWith(fit, definePlugin({ name: "Other" }));
    queue.add(info("a"));
    expect(failed(rejectedBy("Fit"))).toBe("a");
    expect(take()).toBeUndefined();
    queue.event({ resource: "Node", action: "labels", old: node("n"), new: node("n") });
    queue.event({ resource: "Node", action: "add", new: node("another") });
    expect(queue.sizes).toEqual({ active: 0, backoff: 0, unschedulable: 1, gated: 0 });
    queue.event(NODE_ADDED);
    expect(queue.sizes).toMatchObject({ backoff: 1, unschedulable: 0 });
    await clock.advance(1000);
    expect(queue.sizes).toMatchObject({ active: 1, backoff: 0 });
    expect(failed(rejectedBy("Other"))).toBe("a");
    queue.event(NODE_ADDED);
    expect(queue.sizes).toMatchObject({ unschedulable: 1 });
  });

  it("tries a pod that backs off when nothing else is to do, but not one that backs off from an error", async () => {
    const { queue, clock, take, failed } = queueWith(fit);
    queue.add(info("a"));
    failed(rejectedBy("Fit"));
    queue.event(NODE_ADDED);
    expect(take()).toBe("a");
    queue.add(info("b"));
    expect(failed({ kind: "error" })).toBe("b");
    expect(take()).toBeUndefined();
    await clock.advance(1000);
    expect(failed({ kind: "error" })).toBe("b");
    await clock.advance(1999);
    expect(take()).toBeUndefined();
    await clock.advance(1);
    expect(take()).toBe("b");
  });

  it("waits longer each time, up to the longest", async () => {
    const { queue, clock, take, failed } = queueWith(fit);
    queue.add(info("a"));
    for (const seconds of [1, 2, 4, 8, 10, 10]) {
      failed({ kind: "error" });
      await clock.advance(seconds * 1000 - 1);
      expect(queue.sizes).toMatchObject({ backoff: 1 });
      await clock.advance(1);
      expect(queue.sizes).toMatchObject({ active: 1 });
    }
    expect(take()).toBe("a");
  });

  it("gives the most important first of those whose backoffs end in the same second", async () => {
    const { queue, clock, take, failed } = queueWith(fit);
    await clock.advance(100);
    queue.add(info("low", 1));
    expect(failed(rejectedBy("Fit"))).toBe("low");
    await clock.advance(300);
    queue.add(info("high", 2));
    expect(failed(rejectedBy("Fit"))).toBe("high");
    queue.event(NODE_ADDED);
    expect(queue.sizes).toMatchObject({ backoff: 2 });
    expect([take(), take()]).toEqual(["high", "low"]);
  });

  it("tries a pod again that somebody wants to be tried, wherever it is", async () => {
    const { queue, clock, take, failed } = queueWith(fit);
    const { uid } = info("a");
    queue.add(info("a"));
    const flying = queue.take();
    queue.activate(uid);
    queue.failed(flying?.pod.uid ?? "", rejectedBy("Fit"));
    expect(queue.sizes).toMatchObject({ backoff: 1, unschedulable: 0 });
    queue.activate(uid);
    expect(queue.sizes).toMatchObject({ active: 1, backoff: 0 });
    failed({ kind: "error" });
    expect(take()).toBeUndefined();
    queue.activate(uid);
    expect(take()).toBe("a");
    queue.failed(uid, rejectedBy("Fit"));
    await clock.advance(10_000);
    expect(queue.sizes).toMatchObject({ unschedulable: 1 });
  });

  it("counts who comes into which queue because of what, with the labels of kube-scheduler", async () => {
    const { queue, clock, failed, incoming } = queueWith(fit, gateOn("gated"));
    queue.add(info("a"));
    queue.add(info("gated"));
    queue.update(info("gated"), []);
    failed(rejectedBy("Fit"));
    queue.event(NODE_ADDED);
    await clock.advance(1000);
    const flying = queue.take();
    queue.event(POD_GONE);
    queue.failed(flying?.pod.uid ?? "", rejectedBy("Fit"));
    expect(incoming).toEqual([
      "active UnschedulablePodAdd",
      "unschedulable UnschedulablePodAdd",
      "unschedulable ScheduleAttemptFailure",
      "backoff NodeAdd",
      "active BackoffComplete",
      "backoff ScheduleAttemptFailure",
    ]);
    const waiting = [...queue.rejections()];
    queue.take();
    expect(incoming.at(-1)).toBe("active PopFromBackoffQ");
    expect(waiting).toEqual([
      { plugin: "Fit", profile: "default-scheduler" },
      { plugin: "Gate", profile: "default-scheduler" },
    ]);
  });

  it("counts no time during which a pod was held back", async () => {
    const { queue, clock } = queueWith(fit, gateOn("gated"));
    queue.add(info("gated"));
    await clock.advance(60_000);
    expect(queue.get(info("gated").uid)?.sinceMs).toBeUndefined();
    queue.add(info("a"));
    expect(queue.get(info("a").uid)?.sinceMs).toBe(60_000);
  });

  it("misses no event that comes while a pod is in flight", () => {
    const { queue } = queueWith(fit);
    queue.add(info("a"));
    const queued = queue.take();
    queue.event(POD_GONE);
    queue.failed(queued?.pod.uid ?? "", rejectedBy("Fit"));
    expect(queue.sizes).toMatchObject({ backoff: 1, unschedulable: 0 });
  });

  it("forgets events that came before the attempt", () => {
    const { queue, take } = queueWith(fit);
    queue.add(info("a"));
    queue.add(info("b"));
    const first = queue.take();
    queue.event(POD_GONE);
    const second = queue.take();
    queue.failed(second?.pod.uid ?? "", rejectedBy("Fit"));
    expect(queue.sizes).toMatchObject({ backoff: 0, unschedulable: 1 });
    queue.failed(first?.pod.uid ?? "", rejectedBy("Fit"));
    expect(queue.sizes).toMatchObject({ backoff: 1, unschedulable: 1 });
    expect(take()).toBe("a");
  });

  it("tries a pod that no event woke after five minutes", async () => {
    const { queue, clock, failed, take } = queueWith(fit);
    queue.add(info("a"));
    expect(failed(rejectedBy("Fit"))).toBe("a");
    await clock.advance(4 * 60_000);
    expect(queue.sizes).toMatchObject({ unschedulable: 1 });
    await clock.advance(90_000);
    expect(take()).toBe("a");
  });

  it("tries it sooner where it is told to", async () => {
    const { queue, clock, failed, take } = queueParking(60_000, fit);
    queue.add(info("a"));
    expect(failed(rejectedBy("Fit"))).toBe("a");
    await clock.advance(59_000);
    expect(queue.sizes).toMatchObject({ unschedulable: 1 });
    await clock.advance(31_000);
    expect(take()).toBe("a");
  });

  it("holds gated pods back until their plugin lets them pass", () => {
    const { unresolvable } = rejectionsOf("Gate");
    let verdict: typeof PASS | Rejection = unresolvable("not yet");
    const gate = definePlugin({
      name: "Gate",
      wakes: [{ resource: "AssignedPod", actions: ["delete"] }],
      preEnqueue: () => verdict,
    });
    const { queue, take } = queueWith(gate, fit);
    queue.add(info("a"));
    expect(queue.sizes).toMatchObject({ active: 0, gated: 1 });
    queue.event(POD_GONE);
    expect(queue.sizes).toMatchObject({ gated: 1 });
    verdict = PASS;
    queue.event(NODE_ADDED);
    expect(queue.sizes).toMatchObject({ gated: 1 });
    queue.ungate(info("a").uid);
    expect(take()).toBe("a");
  });

  it("lets a plugin that a pod is pending on wake it at once", () => {
    const { queue, failed } = queueWith(fit);
    queue.add(info("a"));
    failed({ kind: "rejected", rejectors: new Set(["Fit"]), pending: new Set(["Fit"]) });
    queue.event(NODE_ADDED);
    expect(queue.sizes).toMatchObject({ active: 1, backoff: 0 });
  });

  it("takes a hint that fails for a yes", () => {
    const faults: unknown[] = [];
    const hint = () => {
      throw new Error("oh");
    };
    const wakes = new Wakes(
      [definePlugin({ name: "Bad", wakes: [{ resource: "Node", actions: ["add"], hint }] })],
      (e) => faults.push(e),
    );
    const queued = { pod: info("a"), rejectors: new Set(["Bad"]), pending: new Set<string>() };
    expect(wakes.ask(queued, NODE_ADDED)).toBe("queue");
    expect(faults).toHaveLength(1);
  });

  it("lets go of what is deleted, wherever it is", () => {
    const { queue, take, failed } = queueWith(fit);
    for (const name of ["parked", "active", "flying"]) queue.add(info(name));
    failed(rejectedBy("Fit"));
    const flying = queue.take();
    for (const name of ["parked", "active", "flying"]) queue.delete(info(name).uid);
    queue.failed(flying?.pod.uid ?? "", rejectedBy("Fit"));
    expect(queue.sizes).toEqual({ active: 0, backoff: 0, unschedulable: 0, gated: 0 });
    expect(take()).toBeUndefined();
  });
});
