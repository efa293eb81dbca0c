import { expect, it } from "vitest";
import type { core } from "#api";
import { nodeState, usesByNode } from "./node.ts";

const node = (name: string, ready: string, unschedulable = false): core.Node => ({
  metadata: { name },
  spec: { unschedulable },
  status: { conditions: [{ type: "Ready", status: ready }], allocatable: { cpu: "4", memory: "8Gi" } },
});

it.each([
  [node("a", "True"), "Ready", "good"],
  [node("a", "True", true), "Ready, cordoned", "busy"],
  [node("a", "False"), "NotReady", "bad"],
  [node("a", "Unknown"), "Unknown", "bad"],
])("a node in a word", (given, word, tone) => {
  expect(nodeState(given)).toEqual({ word, tone });
});

it("adds up what Pods that are not done have asked for", () => {
  const pod = (phase: "Running" | "Succeeded", cpu: string, init = "0"): core.Pod => ({
    metadata: {},
    spec: {
      nodeName: "a",
      containers: [{ name: "c", resources: { requests: { cpu, memory: "1Gi" } } }],
      initContainers: [{ name: "i", resources: { requests: { cpu: init } } }],
    },
    status: { phase },
  });
  const pods = [pod("Running", "500m"), pod("Running", "1", "2"), pod("Succeeded", "3")];
  expect(usesByNode([node("a", "True")], pods).get("a")).toEqual({
    pods: 2,
    cpu: 2.5,
    cpuOf: 4,
    memory: 2 * 2 ** 30,
    memoryOf: 8 * 2 ** 30,
  });
});
