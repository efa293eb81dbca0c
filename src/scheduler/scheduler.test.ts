import { afterEach, describe, expect, it } from "vitest";
import { node, pod } from "./testing/index.ts";
import { type TestSchedulerOptions, testScheduler } from "./testing/test-scheduler.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function scheduler(options: TestSchedulerOptions = {}) {
  const running = await testScheduler(options);
  open.push(() => running.close());
  return running;
}

describe("a scheduler", () => {
  it("binds a pod, and says so", async () => {
    const { addNode, addPod, settle, pod: get, events, registry } = await scheduler();
    await addNode(node("a"));
    await addPod(pod("web", { requests: { cpu: "1" } }));
    await settle();
    const { spec, status } = await get("web");
    expect(spec?.nodeName).toBe("a");
    expect(status?.conditions).toMatchObject([{ type: "PodScheduled", status: "True" }]);
    expect(await events("web")).toEqual(["Scheduled: Successfully assigned default/web to a"]);
    expect(registry.text()).toContain(
      'scheduler_schedule_attempts_total{result="scheduled",profile="default-scheduler"} 1',
    );
  });

  it("says why a pod fits nowhere, and tries again when a node comes that could hold it", async () => {
    const { addNode, addPod, settle, places, pod: get, events } = await scheduler();
    await addNode(node("small", { allocatable: { cpu: "1" } }));
    await addNode(node("tainted", { taints: [{ key: "k", effect: "NoSchedule" }] }));
    await addPod(pod("web", { requests: { cpu: "2" } }));
    await settle();
    const message = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).";
    const { status } = await get("web");
    expect(status?.conditions).toMatchObject([
      { type: "PodScheduled", status: "False", reason: "Unschedulable", message: expect.stringContaining(message) },
    ]);
    expect(await events("web")).toEqual([expect.stringContaining(`FailedScheduling: ${message}`)]);
    await addNode(node("another", { allocatable: { cpu: "1" } }));
    await settle();
    expect(await places()).toEqual({ web: undefined });
    await addNode(node("large"));
    await settle();
    expect(await places()).toEqual({ web: "large" });
  });
});
