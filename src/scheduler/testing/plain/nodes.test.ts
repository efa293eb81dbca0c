import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { DEFAULT_ARGUMENTS as args } from "../../framework/index.ts";
import { node, type PodParts, pod } from "../builders.ts";
import { imageLocality } from "./image-locality.ts";
import { nodeAffinity } from "./node-affinity.ts";
import { nodeName } from "./node-name.ts";
import { nodePorts } from "./node-ports.ts";
import { nodeUnschedulable } from "./node-unschedulable.ts";
import { taintToleration } from "./taint-toleration.ts";

const gone = { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" } as const;
const required = (...terms: core.NodeSelectorTerm[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
});
const gpu = { key: "gpu", effect: "NoSchedule", value: "a100" } as const;

const NOT_NAMED = "node(s) didn't match the requested node name";
const CORDONED = "node(s) were unschedulable";
const NO_MATCH = "node(s) didn't match Pod's node affinity/selector";
const TAINTED = "node(s) had untolerated taint(s)";
const TAKEN = "node(s) didn't have free ports for the requested pod ports";

describe("filters that look at one node", () => {
  const zoned = node("a", { labels: { zone: "z1", cores: "16" } });
  const cases: {
    name: string;
    plugin: typeof nodeName;
    node: core.Node;
    pod: PodParts;
    there?: core.Pod[];
    want?: string;
  }[] = [
    { name: "no name", plugin: nodeName, node: zoned, pod: {} },
    { name: "its name", plugin: nodeName, node: zoned, pod: { on: "a" } },
    { name: "another name", plugin: nodeName, node: zoned, pod: { on: "b" }, want: NOT_NAMED },
    { name: "cordoned", plugin: nodeUnschedulable, node: node("a", { unschedulable: true }), pod: {}, want: CORDONED },
    {
      name: "cordoned, and that is fine",
      plugin: nodeUnschedulable,
      node: node("a", { unschedulable: true }),
      pod: { spec: { tolerations: [gone] } },
    },
    { name: "selector", plugin: nodeAffinity, node: zoned, pod: { spec: { nodeSelector: { zone: "z1" } } } },
    {
      name: "selector with another value",
      plugin: nodeAffinity,
      node: zoned,
      pod: { spec: { nodeSelector: { zone: "z2" } } },
      want: NO_MATCH,
    },
    {
      name: "one of two terms",
      plugin: nodeAffinity,
      node: zoned,
      pod: {
        spec: required(
          { matchExpressions: [{ key: "zone", operator: "NotIn", values: ["z1"] }] },
          { matchExpressions: [{ key: "cores", operator: "Gt", values: ["8"] }] },
        ),
      },
    },
    {
      name: "a term that asks for nothing",
      plugin: nodeAffinity,
      node: zoned,
      pod: { spec: required({}) },
      want: NO_MATCH,
    },
    {
      name: "by the node's own name",
      plugin: nodeAffinity,
      node: zoned,
      pod: { spec: required({ matchFields: [{ key: "metadata.name", operator: "In", values: ["b"] }] }) },
      want: NO_MATCH,
    },
    { name: "taint", plugin: taintToleration, node: node("a", { taints: [gpu] }), pod: {}, want: TAINTED },
    {
      name: "taint, tolerated by value",
      plugin: taintToleration,
      node: node("a", { taints: [gpu] }),
      pod: { spec: { tolerations: [{ key: "gpu", value: "a100" }] } },
    },
    {
      name: "taint, another value tolerated",
      plugin: taintToleration,
      node: node("a", { taints: [gpu] }),
      pod: { spec: { tolerations: [{ key: "gpu", value: "h100" }] } },
      want: TAINTED,
    },
    {
      name: "everything tolerated",
      plugin: taintToleration,
      node: node("a", { taints: [gpu, { key: "x", effect: "NoExecute" }] }),
      pod: { spec: { tolerations: [{ operator: "Exists" }] } },
    },
    {
      name: "PreferNoSchedule keeps nobody away",
      plugin: taintToleration,
      node: node("a", { taints: [{ ...gpu, effect: "PreferNoSchedule" }] }),
      pod: {},
    },
    {
      name: "port taken",
      plugin: nodePorts,
      node: zoned,
      pod: { hostPorts: [8080] },
      there: [pod("old", { on: "a", hostPorts: [8080] })],
      want: TAKEN,
    },
    {
      name: "port taken on another node",
      plugin: nodePorts,
      node: zoned,
      pod: { hostPorts: [8080] },
      there: [pod("old", { on: "b", hostPorts: [8080] })],
    },
    {
      name: "same port, other address",
      plugin: nodePorts,
      node: zoned,
      pod: { spec: onAddress("127.0.0.1") },
      there: [pod("old", { on: "a", spec: { ...onAddress("127.0.0.2"), nodeName: "a" } })],
    },
    {
      name: "same port, any address",
      plugin: nodePorts,
      node: zoned,
      pod: { spec: onAddress("") },
      there: [pod("old", { on: "a", spec: { ...onAddress("127.0.0.2"), nodeName: "a" } })],
      want: TAKEN,
    },
  ];
  it.each(cases)("$plugin.name: $name", ({ plugin, node: on, pod: parts, there = [], want }) => {
    const failure = plugin.filter?.({ pod: pod("p", parts), cluster: { nodes: [on], pods: there }, args }, on);
    expect(failure?.reasons).toEqual(want === undefined ? undefined : [want]);
  });
});

function onAddress(hostIP: string): { containers: core.Container[] } {
  return { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80, hostIP }] }] };
}

describe("ImageLocality", () => {
  const one = node("one", { images: { "gcr.io/40:latest": 40, "gcr.io/300:latest": 300, "gcr.io/2000:latest": 2000 } });
  const two = node("two", { images: { "gcr.io/250:latest": 250, "gcr.io/10:v1": 10 } });
  const cases = [
    { name: "the larger image wins", images: ["gcr.io/40", "gcr.io/250"], want: [0, 5] },
    { name: "two on one node", images: ["gcr.io/40", "gcr.io/300"], want: [7, 0] },
    { name: "a huge one", images: ["gcr.io/10:v1", "gcr.io/2000"], want: [49, 0] },
    { name: "one that nobody has", images: ["gcr.io/none"], want: [0, 0] },
    { name: "one that is mounted", images: ["gcr.io/none"], mounted: ["gcr.io/300"], want: [12, 0] },
  ];
  it.each(cases)("$name", ({ images, mounted = [], want }) => {
    const containers = images.map((image, i) => ({ name: `c${i}`, image }));
    const volumes = mounted.map((reference, i) => ({ name: `v${i}`, image: { reference } }));
    const wants = pod("p", { spec: { containers, volumes } });
    const question = { pod: wants, cluster: { nodes: [one, two], pods: [] }, args };
    const scores = imageLocality.score?.(question, [one, two]);
    expect([scores?.get("one"), scores?.get("two")]).toEqual(want);
  });
});

describe("preferences of nodes", () => {
  it("PreferNoSchedule: the fewer, the better", () => {
    const soft = (key: string) => ({ key, effect: "PreferNoSchedule" as const });
    const nodes = [node("none"), node("one", { taints: [soft("x")] }), node("two", { taints: [soft("x"), soft("y")] })];
    const scores = taintToleration.score?.({ pod: pod("p"), cluster: { nodes, pods: [] }, args }, nodes);
    expect([...(scores?.values() ?? [])]).toEqual([100, 50, 0]);
  });

  it("NodeAffinity: weights of matching terms, the highest is 100", () => {
    const prefers = (key: string, weight: number) => ({
      weight,
      preference: { matchExpressions: [{ key, operator: "Exists" as const }] },
    });
    const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [prefers("ssd", 2), prefers("fast", 5)] };
    const nodes = [
      node("plain"),
      node("ssd", { labels: { ssd: "" } }),
      node("both", { labels: { ssd: "", fast: "" } }),
    ];
    const wants = pod("p", { spec: { affinity: { nodeAffinity: preferred } } });
    const scores = nodeAffinity.score?.({ pod: wants, cluster: { nodes, pods: [] }, args }, nodes);
    expect([...(scores?.values() ?? [])]).toEqual([0, 28, 100]);
  });
});
