/** The health monitor on virtual time. */
import { afterEach, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { oneForAll } from "../driver-controllers.ts";
import { provisioner } from "../provisioner/index.ts";
import { type ScriptedOptions, scriptedDriver } from "../testing/scripted-driver.ts";
import { volumeStory } from "../testing/story.ts";
import { healthMonitor } from "./index.ts";

const NAME = "example.com";
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const LISTS = ["CREATE_DELETE_VOLUME", "LIST_VOLUMES", "VOLUME_CONDITION"] as const;
const GETS = ["CREATE_DELETE_VOLUME", "GET_VOLUME", "VOLUME_CONDITION"] as const;

it.each<[string, ScriptedOptions["rpcs"], string]>([
  ["lists volumes", LISTS, "ListVolumes"],
  ["gets single volumes", GETS, "ControllerGetVolume"],
])("tells of a volume that is ill and well again, once each: a driver that %s", async (_, rpcs, method) => {
  const script = scriptedDriver({ rpcs });
  const drivers = oneForAll(NAME, script.driver);
  const story = await volumeStory([...provisioner({ drivers }), ...healthMonitor({ drivers })]);
  open.push(() => story.close());
  await story.addClass();
  await story.addClaim();
  const about = async () => (await story.events()).filter((text) => text.startsWith("VolumeCondition")).sort();
  const [volume] = script.volumes.values();
  if (volume === undefined) throw new Error("no volume");
  await story.pass(61_000);
  expect(await about()).toEqual([]);
  volume.condition = { abnormal: true, message: "the disk smokes" };
  await story.pass(180_000);
  expect(await about()).toEqual(["VolumeConditionAbnormal: the disk smokes"]);
  volume.condition = { abnormal: false, message: "" };
  await story.pass(60_000);
  expect(await about()).toEqual([
    "VolumeConditionAbnormal: the disk smokes",
    "VolumeConditionNormal: The Volume returns to the healthy state",
  ]);
  expect(script.called(method)).toBeGreaterThan(3);
});

it("asks nothing of a driver that knows no conditions", async () => {
  const script = scriptedDriver({ rpcs: ["CREATE_DELETE_VOLUME"] });
  const drivers = oneForAll(NAME, script.driver);
  const story = await volumeStory([...provisioner({ drivers }), ...healthMonitor({ drivers })]);
  open.push(() => story.close());
  await story.addClass();
  await story.addClaim();
  await story.pass(61_000);
  expect(script.called("ListVolumes") + script.called("ControllerGetVolume")).toBe(0);
});

it("tells of claims on a node that has failed for five minutes, and when it is back or gone", async () => {
  const script = scriptedDriver({ rpcs: ["CREATE_DELETE_VOLUME"] });
  const drivers = oneForAll(NAME, script.driver);
  const monitor = healthMonitor({ drivers, watchesNodes: true });
  const story = await volumeStory([...provisioner({ drivers }), ...monitor], { nodes: ["a", "b"] });
  open.push(() => story.close());
  const { client, clock, settle } = story;
  await story.addClass();
  for (const [name, nodeName] of [
    ["one", "a"],
    ["two", "b"],
  ] as const) {
    await story.addClaim(name);
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: name } }];
    const spec = { nodeName, containers: [{ name: "c", image: "i" }], volumes };
    await client
      .of(kinds.Pod)
      .in("default")
      .create({ metadata: { name: `pod-${name}` }, spec });
  }
  const nodes = client.of(kinds.Node);
  const report = async (status: "True" | "Unknown") => {
    const lastTransitionTime = new Date(clock.now()).toISOString();
    const ready: core.NodeCondition = { type: "Ready", status, lastTransitionTime };
    await nodes.updateStatus({ ...(await nodes.get("a")), status: { conditions: [ready] } });
    await settle();
  };
  const about = async () => (await story.events()).filter((text) => text.startsWith("Node")).sort();
  await report("True");
  await report("Unknown");
  await story.pass(290_000);
  expect(await about()).toEqual([]);
  await story.pass(20_000);
  const failed = "NodeFailed: Pods: [ pod-one ] consuming PVC: one in namespace: default are now on a failed node: a";
  expect(await about()).toEqual([failed]);
  await report("True");
  expect(await about()).toEqual([failed, "NodeRecovered: Node: a recovered"]);
  await nodes.delete("b");
  await settle();
  expect(await about()).toContain(failed.replaceAll("one", "two").replace(/a$/, "b"));
});
