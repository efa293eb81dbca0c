/** The shapes of the original's public scheduler_perf suite, and the lower bounds that it publishes for them (pods per second, 5,000 nodes). */
import type { core } from "#api";
import type { BenchCluster } from "./cluster.ts";
import {
  CLAIMS,
  CSI_NODES,
  container,
  HOSTNAME,
  NODES,
  node,
  PODS,
  PRIORITY_CLASSES,
  pod,
  several,
  VOLUMES,
  ZONE,
} from "./objects.ts";

export interface Workload {
  readonly name: string;
  /** What the original reaches at least. */
  readonly bound: number;
  readonly nodes: number;
  readonly zones?: readonly string[];
  /** Before the nodes are full of anything. */
  prepare?(cluster: BenchCluster, scale: number): Promise<void>;
  /** Pods that are there before, and have to be bound. */
  readonly before?: { readonly count: number; make(at: number): core.Pod };
  /** Pods that can never be bound. */
  readonly hopeless?: { readonly count: number; make(at: number): core.Pod };
  readonly measured: { readonly count: number; make(at: number): core.Pod };
  /** Goes on meanwhile, about once a second. */
  churn?(cluster: BenchCluster, round: number): Promise<void>;
}

const MOONS = ["moon-1", "moon-2", "moon-3"];
const blue = { color: "blue" };
const green = { color: "green" };

function spread(whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway"): Partial<core.PodSpec> {
  return {
    topologySpreadConstraints: [
      { maxSkew: 5, topologyKey: ZONE, whenUnsatisfiable, labelSelector: { matchLabels: blue } },
    ],
  };
}

const near: Partial<core.PodSpec> = {
  affinity: {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: { matchLabels: blue } }],
    },
  },
};

const apart: Partial<core.PodSpec> = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: HOSTNAME, labelSelector: { matchLabels: green } },
      ],
    },
  },
};

const inZones: Partial<core.PodSpec> = {
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: "In", values: ["zone1", "zone2"] }] }],
      },
    },
  },
};

function onNode(name: string): Partial<core.PodSpec> {
  const nodeSelectorTerms = [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: [name] }] }];
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}

function withClaim(at: number): Partial<core.PodSpec> {
  return { volumes: [{ name: "data", persistentVolumeClaim: { claimName: `claim-${at}` } }] };
}

async function boundVolumes(cluster: BenchCluster, count: number): Promise<void> {
  const amounts = { storage: "1Gi" };
  const volume = (at: number) => ({
    metadata: { name: `pv-${at}`, annotations: { "pv.kubernetes.io/bound-by-controller": "true" } },
    spec: {
      accessModes: ["ReadOnlyMany"],
      capacity: amounts,
      csi: { driver: "ebs.csi.aws.com", volumeHandle: `handle-${at}` },
      persistentVolumeReclaimPolicy: "Retain",
      claimRef: { kind: "PersistentVolumeClaim", namespace: "default", name: `claim-${at}` },
    },
    status: { phase: "Bound" },
  });
  const claim = (at: number) => ({
    metadata: { name: `claim-${at}`, namespace: "default", annotations: { "pv.kubernetes.io/bind-completed": "true" } },
    spec: {
      accessModes: ["ReadOnlyMany"],
      resources: { requests: amounts },
      volumeName: `pv-${at}`,
      storageClassName: "",
    },
    status: { phase: "Bound" },
  });
  await cluster.create(VOLUMES, several(count, volume));
  await cluster.create(CLAIMS, several(count, claim));
}

async function csiNodes(cluster: BenchCluster, count: number): Promise<void> {
  const one = (at: number) => ({
    metadata: { name: `node-${at}` },
    spec: { drivers: [{ name: "ebs.csi.aws.com", nodeID: `node-${at}`, allocatable: { count: 39 } }] },
  });
  await cluster.create(CSI_NODES, several(count, one));
}

async function priorities(cluster: BenchCluster): Promise<void> {
  await cluster.create(PRIORITY_CLASSES, [
    { metadata: { name: "high" }, value: 10 } as never,
    { metadata: { name: "low" }, value: 1 } as never,
  ]);
}

export const WORKLOADS: readonly Workload[] = [
  {
    name: "basic",
    bound: 270,
    nodes: 5_000,
    before: { count: 1_000, make: (at) => pod(`init-${at}`) },
    measured: { count: 10_000, make: (at) => pod(`pod-${at}`) },
  },
  {
    name: "node affinity",
    bound: 220,
    nodes: 5_000,
    before: { count: 5_000, make: (at) => pod(`init-${at}`, inZones) },
    measured: { count: 10_000, make: (at) => pod(`pod-${at}`, inZones) },
  },
  {
    name: "topology spread",
    bound: 85,
    nodes: 5_000,
    zones: MOONS,
    before: { count: 5_000, make: (at) => pod(`init-${at}`) },
    measured: { count: 5_000, make: (at) => pod(`pod-${at}`, spread("DoNotSchedule"), blue) },
  },
  {
    name: "preferred spread",
    bound: 125,
    nodes: 5_000,
    zones: MOONS,
    before: { count: 5_000, make: (at) => pod(`init-${at}`) },
    measured: { count: 5_000, make: (at) => pod(`pod-${at}`, spread("ScheduleAnyway"), blue) },
  },
  {
    name: "pod affinity",
    bound: 35,
    nodes: 5_000,
    before: { count: 5_000, make: (at) => pod(`init-${at}`, near, blue) },
    measured: { count: 5_000, make: (at) => pod(`pod-${at}`, near, blue) },
  },
  {
    name: "pod anti-affinity",
    bound: 60,
    nodes: 5_000,
    before: { count: 1_000, make: (at) => pod(`init-${at}`, apart, green) },
    measured: { count: 2_000, make: (at) => pod(`pod-${at}`, apart, green) },
  },
  {
    name: "mixed churn",
    bound: 265,
    nodes: 5_000,
    measured: { count: 10_000, make: (at) => pod(`pod-${at}`) },
    async churn(cluster, round) {
      const name = `churn-${round}`;
      await cluster.create(NODES, [{ ...node(0), metadata: { name } }]);
      await cluster.create(PODS, [pod(name, { containers: [container("100", "500Gi")] })]);
      await cluster.client.of(PODS).in("default").delete(name);
      await cluster.client.of(NODES).delete(name);
    },
  },
  {
    name: "preemption",
    bound: 160,
    nodes: 5_000,
    prepare: priorities,
    before: {
      count: 20_000,
      make: (at) => pod(`init-${at}`, { priorityClassName: "low", containers: [container("900m", "500Mi")] }),
    },
    measured: {
      count: 5_000,
      make: (at) => pod(`pod-${at}`, { priorityClassName: "high", containers: [container("3000m", "500Mi")] }),
    },
  },
  {
    name: "unschedulable",
    bound: 140,
    nodes: 5_000,
    hopeless: { count: 200, make: (at) => pod(`hopeless-${at}`, { containers: [container("9", "500Mi")] }) },
    measured: { count: 10_000, make: (at) => pod(`pod-${at}`) },
  },
  {
    name: "CSI volumes",
    bound: 48,
    nodes: 5_000,
    async prepare(cluster, scale) {
      await csiNodes(cluster, 5_000 * scale);
      await boundVolumes(cluster, 10_000 * scale);
    },
    before: { count: 5_000, make: (at) => pod(`init-${at}`, withClaim(at)) },
    measured: { count: 5_000, make: (at) => pod(`pod-${at}`, withClaim(at)) },
  },
  {
    name: "DaemonSet on 15,000 nodes",
    bound: 390,
    nodes: 15_000,
    measured: { count: 15_000, make: (at) => pod(`pod-${at}`, onNode(`node-${at}`)) },
  },
];
