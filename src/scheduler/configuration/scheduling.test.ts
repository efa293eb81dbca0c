/** What a configuration file says is what the scheduler does. */
import { afterEach, describe, expect, it } from "vitest";
import { ALL_PLUGINS } from "../plugins/index.ts";
import { node, pod } from "../testing/index.ts";
import { testScheduler } from "../testing/test-scheduler.ts";
import { readConfiguration } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function configured(text: string) {
  const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
  const { scheduler } = readConfiguration(head + text, { factories: ALL_PLUGINS, readFile: () => "" });
  const running = await testScheduler({ configuration: scheduler });
  open.push(() => running.close());
  return running;
}

const of = (schedulerName: string) => ({
  spec: { schedulerName, containers: [{ name: "c", image: "web:1", resources: { requests: { cpu: "1" } } }] },
});

describe("a configured scheduler", () => {
  it("has a profile for each scheduler name, and leaves other Pods alone", async () => {
    const { addNode, addPod, settle, places } = await configured(`profiles:
- schedulerName: spreading
- schedulerName: packing
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu}]}}
  plugins:
    score: {disabled: [{name: NodeResourcesBalancedAllocation}]}
`);
    await addNode(node("empty"));
    await addNode(node("busy"));
    await addPod(pod("there", { on: "busy", requests: { cpu: "2" } }));
    await settle();
    await addPod(pod("packed", of("packing")));
    await settle();
    await addPod(pod("spread", of("spreading")));
    await addPod(pod("stranger", of("default-scheduler")));
    await settle();
    expect(await places()).toEqual({ there: "busy", packed: "busy", spread: "empty", stranger: undefined });
  });

  it.each([1_000_000, -1])("takes a weight as it is: %i", async (weight) => {
    const { addNode, addPod, settle, places } = await configured(`profiles:
- plugins:
    score:
      disabled: [{name: "*"}]
      enabled: [{name: NodeResourcesFit, weight: ${weight}}]
`);
    await addNode(node("empty"));
    await addNode(node("busy"));
    await addPod(pod("there", { on: "busy", requests: { cpu: "2" } }));
    await settle();
    await addPod(pod("web", of("default-scheduler")));
    await settle();
    expect(await places()).toEqual({ there: "busy", web: weight > 0 ? "empty" : "busy" });
  });

  it("asks no plugin that is turned off", async () => {
    const { addNode, addPod, settle, places } = await configured(`profiles:
- plugins:
    filter: {disabled: [{name: TaintToleration}]}
`);
    await addNode(node("tainted", { taints: [{ key: "k", effect: "NoSchedule" }] }));
    await addPod(pod("web"));
    await settle();
    expect(await places()).toEqual({ web: "tainted" });
  });

  it("enforces the affinity that it adds, and says so", async () => {
    const { addNode, addPod, settle, events } = await configured(`profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: team, operator: In, values: [a]}]}]
`);
    await addNode(node("other", { labels: { team: "b" } }));
    await addPod(pod("web"));
    await settle();
    expect(await events("web")).toEqual([
      expect.stringContaining("0/1 nodes are available: 1 node(s) didn't match scheduler-enforced node affinity."),
    ]);
  });
});
