/**
 * Which events are worth another attempt, for pods that a plugin has rejected: the documented queueing hints, as a
 * table.
 */
import { describe, expect, it } from "vitest";
import { type core, defaultFeatures, type storage } from "#api";
import { MetricsRegistry, seededRandom, silentLogger, VirtualClock } from "#base";
import type { Client, EventRecorder } from "#client";
import { schedulerMetrics } from "../cycle/metrics.ts";
import { type ClusterEvent, DEFAULT_ARGUMENTS, type PluginContext } from "../framework/index.ts";
import { Wakes } from "../queue/index.ts";
import { ClusterState, PodInfos, ResourceNames } from "../snapshot/index.ts";
import { HeldObjects } from "../testing/held-objects.ts";
import { node, pod } from "../testing/index.ts";
import { ALL_PLUGINS } from "./index.ts";

const resources = new ResourceNames();
const infos = new PodInfos(resources);
const context: PluginContext = {
  client: { of: () => ({}) } as unknown as Client,
  events: {} as EventRecorder,
  informers: new HeldObjects().informers(),
  view: new ClusterState(resources),
  resources,
  clock: new VirtualClock(),
  random: seededRandom(1),
  log: silentLogger,
  wake: () => {},
  ungate: () => {},
  extenders: [],
  groups: undefined,
  enabled: (gate: string) => defaultFeatures.enabled(gate),
  waiting: { allow: () => {}, reject: () => false, preempt: () => undefined },
  metrics: schedulerMetrics(new MetricsRegistry()),
  runInBackground: () => {},
  signal: new AbortController().signal,
};
const wakes = new Wakes(
  ALL_PLUGINS.map((factory) => factory.make(DEFAULT_ARGUMENTS, context)),
  (error) => {
    throw error;
  },
);

const ZONE = "topology.kubernetes.io/zone";
const web = { app: "web" };
const added = (object: core.Node): ClusterEvent => ({ resource: "Node", action: "add", new: object });
const gone = (object: core.Pod): ClusterEvent => ({ resource: "AssignedPod", action: "delete", old: object });
const came = (object: core.Pod): ClusterEvent => ({ resource: "AssignedPod", action: "add", new: object });
const told = (old: core.Pod, now: core.Pod): ClusterEvent => ({
  resource: "AssignedPod",
  action: "update",
  old,
  new: now,
});
const changed = (action: ClusterEvent["action"], old: core.Node, now: core.Node): ClusterEvent => ({
  resource: "Node",
  action,
  old,
  new: now,
});
const taint = { key: "k", effect: "NoSchedule" } as const;
const selecting = pod("p", { spec: { nodeSelector: { disk: "ssd" } } });
const near = (key: "podAffinity" | "podAntiAffinity") =>
  pod("p", {
    spec: {
      affinity: {
        [key]: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: { matchLabels: web } }],
        },
      },
    },
  });
const spread = pod("p", {
  labels: web,
  spec: {
    topologySpreadConstraints: [
      { topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: web } },
    ],
  },
});
const [constraint] = spread.spec?.topologySpreadConstraints ?? [];
const spreadByTaints = pod("p", {
  labels: web,
  spec: { topologySpreadConstraints: constraint ? [{ ...constraint, nodeTaintsPolicy: "Honor" }] : [] },
});
const tolerating: ClusterEvent = { resource: "TargetPod", action: "tolerations", old: pod("p"), new: pod("p") };
const shrunk = (from: Record<string, string>, to: Record<string, string>): ClusterEvent => ({
  resource: "AssignedPod",
  action: "scaleDown",
  old: pod("o", { on: "n", requests: from }),
  new: pod("o", { on: "n", requests: to }),
});
const csiNode = (count: number | undefined): storage.CSINode => ({
  metadata: { name: "n" },
  spec: { drivers: [{ name: "d", nodeID: "n", ...(count !== undefined && { allocatable: { count } }) }] },
});
const limited = (from: number, to: number | undefined): ClusterEvent => ({
  resource: "CSINode",
  action: "update",
  old: csiNode(from),
  new: csiNode(to),
});
const large = pod("p", { requests: { cpu: "3" } });
const neighbour = pod("web", { on: "n", labels: web });
const stranger = pod("db", { on: "n" });

const cases: readonly (readonly [plugin: string, what: string, pod: core.Pod, event: ClusterEvent, answer: string])[] =
  [
    ["NodeResourcesFit", "a pod has gone", large, gone(stranger), "queue"],
    ["NodeResourcesFit", "a node came that is large enough", large, added(node("n")), "queue"],
    [
      "NodeResourcesFit",
      "a node came that is too small",
      large,
      added(node("n", { allocatable: { cpu: "2" } })),
      "skip",
    ],
    [
      "NodeResourcesFit",
      "a node has grown enough",
      large,
      changed("allocatable", node("n", { allocatable: { cpu: "2" } }), node("n")),
      "queue",
    ],
    [
      "NodeResourcesFit",
      "a node has grown in something else",
      large,
      changed("allocatable", node("n"), node("n", { allocatable: { memory: "64Gi" } })),
      "skip",
    ],
    [
      "NodeResourcesFit",
      "a pod asks for less of what it wants",
      large,
      shrunk({ cpu: "2", memory: "1Gi" }, { cpu: "1", memory: "1Gi" }),
      "queue",
    ],
    [
      "NodeResourcesFit",
      "a pod asks for less of something else",
      large,
      shrunk({ cpu: "2", memory: "2Gi" }, { cpu: "2", memory: "1Gi" }),
      "skip",
    ],
    ["NodeResourcesFit", "a pod came", large, came(stranger), "skip"],
    ["NodeResourcesFit", "a node's labels changed", large, changed("labels", node("n"), node("n")), "skip"],
    ["NodeAffinity", "a node came that matches", selecting, added(node("n", { labels: { disk: "ssd" } })), "queue"],
    ["NodeAffinity", "a node came that does not", selecting, added(node("n")), "skip"],
    [
      "NodeAffinity",
      "a node's labels match now",
      selecting,
      changed("labels", node("n"), node("n", { labels: { disk: "ssd" } })),
      "queue",
    ],
    [
      "NodeAffinity",
      "a node's labels matched before",
      selecting,
      changed("labels", node("n", { labels: { disk: "ssd" } }), node("n", { labels: { disk: "ssd", a: "b" } })),
      "skip",
    ],
    ["TaintToleration", "a node came without taints", pod("p"), added(node("n")), "queue"],
    ["TaintToleration", "a node came with a taint", pod("p"), added(node("n", { taints: [taint] })), "skip"],
    [
      "TaintToleration",
      "a taint has gone",
      pod("p"),
      changed("taints", node("n", { taints: [taint] }), node("n")),
      "queue",
    ],
    ["TaintToleration", "nothing was in the way before", pod("p"), changed("taints", node("n"), node("n")), "skip"],
    [
      "NodeUnschedulable",
      "a node was uncordoned",
      pod("p"),
      changed("taints", node("n", { unschedulable: true }), node("n")),
      "queue",
    ],
    [
      "NodeUnschedulable",
      "a node was cordoned",
      pod("p"),
      changed("taints", node("n"), node("n", { unschedulable: true })),
      "skip",
    ],
    [
      "NodePorts",
      "a pod with a host port has gone",
      pod("p", { hostPorts: [80] }),
      gone(pod("x", { on: "n", hostPorts: [80] })),
      "queue",
    ],
    [
      "NodePorts",
      "a pod with another host port has gone",
      pod("p", { hostPorts: [80] }),
      gone(pod("x", { on: "n", hostPorts: [81] })),
      "skip",
    ],
    ["NodePorts", "a pod without has gone", pod("p", { hostPorts: [80] }), gone(stranger), "skip"],
    ["InterPodAffinity", "a pod came that was missed", near("podAffinity"), came(neighbour), "queue"],
    ["InterPodAffinity", "a stranger came", near("podAffinity"), came(stranger), "skip"],
    ["InterPodAffinity", "a pod went that was in the way", near("podAntiAffinity"), gone(neighbour), "queue"],
    ["InterPodAffinity", "a stranger went", near("podAntiAffinity"), gone(stranger), "skip"],
    ["PodTopologySpread", "one of its kind went", spread, gone(neighbour), "queue"],
    ["PodTopologySpread", "one of its kind is ready", spread, told(neighbour, neighbour), "skip"],
    [
      "PodTopologySpread",
      "one of its kind is on its way out",
      spread,
      told(neighbour, { ...neighbour, metadata: { ...neighbour.metadata, deletionTimestamp: "2030-01-01T00:00:00Z" } }),
      "queue",
    ],
    ["PodTopologySpread", "the pod tolerates more", spread, tolerating, "skip"],
    ["PodTopologySpread", "the pod tolerates more, and taints count", spreadByTaints, tolerating, "queue"],
    ["PodTopologySpread", "a stranger went", spread, gone(stranger), "skip"],
    ["PodTopologySpread", "a node came with the key", spread, added(node("n", { labels: { [ZONE]: "a" } })), "queue"],
    ["PodTopologySpread", "a node came without", spread, added(node("n")), "skip"],
    [
      "SchedulingGates",
      "the gates have gone",
      pod("p"),
      { resource: "TargetPod", action: "gatesEliminated", new: pod("p") },
      "queue",
    ],
    [
      "NodeVolumeLimits",
      "a volume was detached",
      pod("p", { spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] } }),
      { resource: "VolumeAttachment", action: "delete", old: { metadata: { name: "x" } } },
      "queue",
    ],
    ["NodeVolumeLimits", "a node takes more volumes", pod("p"), limited(1, 2), "queue"],
    ["NodeVolumeLimits", "a node takes any number of volumes", pod("p"), limited(1, undefined), "queue"],
    ["NodeVolumeLimits", "a node takes fewer volumes", pod("p"), limited(2, 1), "skip"],
    ["DefaultPreemption", "a pod went that is not its victim", pod("p"), gone(stranger), "skip"],
  ];

describe("queueing hints", () => {
  it.each(cases)("%s: %s", (plugin, _what, rejected, event, answer) => {
    const queued = { pod: infos.of(rejected), rejectors: new Set([plugin]), pending: new Set<string>() };
    expect(wakes.ask(queued, event)).toBe(answer);
  });
});
