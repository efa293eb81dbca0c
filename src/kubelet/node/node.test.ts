import { describe, expect, it } from "vitest";
import { type core, parseFeatures } from "#api";
import type { Machine } from "../host/index.ts";
import { type NodeHealth, nodeConditions, type Pressure } from "./conditions.ts";
import { declaredFeatures } from "./declared-features.ts";
import { allocatableOf, capacityOf, type NodeReport, nodeStatus, nodeStatusPatch } from "./node-object.ts";

const NOW = Date.UTC(2030, 0, 1);

describe("the Node", () => {
  const machine = { cpus: 2, memoryBytes: 4 * 1024 ** 3, diskBytes: 100 * 1024 ** 3, architecture: "amd64" } as Machine;
  const capacity = capacityOf(machine, { maxPods: 110 });
  const report: NodeReport = {
    machine,
    capacity,
    allocatable: capacity,
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "ok" }],
    images: [],
    kubeletPort: 10250,
    runtimeVersion: "containerd://1",
    kubeletVersion: "v1",
    runtimeHandlers: [],
  };

  it("has what the machine has, less what is kept for others", () => {
    expect(capacity).toMatchObject({ cpu: "2", memory: "4194304Ki", pods: "110" });
    const evictionHard = { "memory.available": "1Mi", "nodefs.available": "10%" };
    const kept = { kube: { cpu: "250m", memory: "1Gi" }, system: { cpu: "250m" }, evictionHard };
    const disk = Number.parseInt(capacity["ephemeral-storage"] ?? "", 10) * 1024;
    expect(allocatableOf(capacity, kept)).toMatchObject({
      cpu: "1500m",
      memory: "3144704Ki",
      "ephemeral-storage": String(disk - Math.floor(disk / 10)),
      pods: "110",
    });
    const huge = capacityOf({ ...machine, hugePages: new Map([[2048, 3]]) }, { maxPods: 110, podsPerCore: 4 });
    expect(huge).toMatchObject({ "hugepages-2Mi": "6Mi", "hugepages-1Gi": "0", pods: "8" });
    expect(allocatableOf(huge, { kube: {}, system: {}, evictionHard: {} })).toMatchObject({
      memory: `${4194304 - 6 * 1024}Ki`,
      "hugepages-2Mi": "6Mi",
    });
    expect(capacityOf(machine, { maxPods: 1, localStorage: false })).not.toHaveProperty("ephemeral-storage");
  });

  it("is written once, then only its changes; fields of others stay", () => {
    const first = nodeStatus({}, report, NOW);
    expect(nodeStatusPatch({}, first, true)?.status).toMatchObject({ capacity, conditions: [{ type: "Ready" }] });
    const stored = { ...first, capacity: { ...capacity, "example.com/gpu": "4" } };
    const later = nodeStatus(stored, report, NOW + 10_000);
    expect(nodeStatusPatch(stored, later, false)?.status).toEqual({ allocatable: { "example.com/gpu": "4" } });
    const known = { ...stored, allocatable: later.allocatable ?? {} };
    expect(nodeStatusPatch(known, nodeStatus(known, report, NOW), false)).toBeUndefined();
    // The server leaves out empty lists.
    const empty = { ...report, images: [], volumesInUse: [] };
    expect(nodeStatusPatch(known, nodeStatus(known, empty, NOW), false)).toBeUndefined();
    const without = { ...known, capacity };
    expect(nodeStatusPatch(without, nodeStatus(without, report, NOW), false)?.status).toEqual({
      allocatable: { "example.com/gpu": null },
    });
    expect(nodeStatusPatch(stored, later, true)?.status).toMatchObject({
      conditions: [{ lastHeartbeatTime: "2030-01-01T00:00:10Z", lastTransitionTime: "2030-01-01T00:00:00Z" }],
    });
    const bad = nodeStatus(
      stored,
      { ...report, conditions: [{ type: "Ready", status: "False", reason: "KubeletNotReady", message: "no" }] },
      NOW + 20_000,
    );
    expect(nodeStatusPatch(known, bad, false)).toEqual({
      status: {
        conditions: [
          {
            type: "Ready",
            status: "False",
            reason: "KubeletNotReady",
            message: "no",
            lastHeartbeatTime: "2030-01-01T00:00:20Z",
            lastTransitionTime: "2030-01-01T00:00:20Z",
          },
        ],
      },
    });
  });

  const well = {
    conditions: [
      { type: "RuntimeReady", status: true, reason: "", message: "" },
      { type: "NetworkReady", status: true, reason: "", message: "" },
    ],
  };
  const healthy: NodeHealth = { runtime: well, runtimeProblem: undefined, pressures: new Set() };
  const noNetwork = {
    conditions: [{ type: "NetworkReady", status: false, reason: "NetworkPluginNotReady", message: "no cni" }],
  };
  it.each<[string, Partial<NodeHealth>, string, string]>([
    ["well", {}, "True", "kubelet is posting ready status"],
    [
      "no network",
      { runtime: noNetwork },
      "False",
      "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:no cni",
    ],
    ["no runtime", { runtime: undefined }, "False", "container runtime is down"],
    [
      "several",
      { runtime: noNetwork, runtimeProblem: "PLEG is not healthy" },
      "False",
      "[PLEG is not healthy, container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:no cni]",
    ],
  ])("ready: %s", (_, health, status, message) =>
    expect(nodeConditions({ ...healthy, ...health }).find(({ type }) => type === "Ready")).toMatchObject({
      status,
      message,
    }),
  );

  it.each([
    { name: "are reported in order", before: [], own: ["B", "A"], want: ["A", "B"] },
    { name: "are not written again", before: ["A"], own: ["A"], want: undefined },
    { name: "of an earlier kubelet go with the gate", before: ["A"], own: [], want: [] },
    { name: "of others stay", before: ["A"], own: undefined, want: undefined },
  ])("declared features $name", ({ before: declaredFeatures, own, want }) => {
    const before = { ...nodeStatus({}, report, NOW), ...(declaredFeatures.length > 0 && { declaredFeatures }) };
    const patch = nodeStatusPatch(before, nodeStatus(before, { ...report, declaredFeatures: own }, NOW), false);
    expect((patch?.status as core.NodeStatus | undefined)?.declaredFeatures).toEqual(want);
  });

  it.each([
    { gates: "", want: ["ExtendWebSocketsToKubelet"] },
    { gates: "ExtendWebSocketsToKubelet=false", want: [] },
    {
      gates:
        "NodeDeclaredFeatures=false,RestartAllContainersOnContainerExits=false,InPlacePodLevelResourcesVerticalScaling=false",
      want: undefined,
    },
  ])("a kubelet with the gates $gates declares $want", ({ gates, want }) => {
    expect(declaredFeatures(parseFeatures({ gates }))).toEqual(want);
  });

  it("pressures are conditions", () => {
    const told = nodeConditions({ ...healthy, pressures: new Set<Pressure>(["DiskPressure"]) });
    expect(told.map(({ type, status }) => `${type}=${status}`)).toEqual([
      "MemoryPressure=False",
      "DiskPressure=True",
      "PIDPressure=False",
      "Ready=True",
    ]);
  });
});
