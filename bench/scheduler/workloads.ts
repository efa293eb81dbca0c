/**
 * The shapes of the original's public scheduler_perf suite, and the lower bounds that it published for them (pods per
 * second, 5,000 nodes).
 *
 * 1. Names in the suite: SchedulingBasic, SchedulingNodeAffinity, TopologySpreading, PreferredTopologySpreading,
 *    SchedulingPodAffinity, SchedulingPodAntiAffinity, SchedulingWithMixedChurn, PreemptionAsync, Unschedulable,
 *    SchedulingCSIPVs, SchedulingDaemonset.
 * 2. PreemptionBasic, in which every pod makes others go, has no bound for 5,000 nodes: the suite leaves that size out,
 *    as it fails there. It is measured all the same.
 */
import type { core } from "#api";
import type { BenchCluster } from "./cluster.ts";
import {
  bareContainer,
  CLAIMS,
  CSI_NODES,
  container,
  HOSTNAME,
  NAMESPACES,
  NODES,
  nodeWith,
  PODS,
  PRIORITY_CLASSES,
  pod,
  SERVICES,
  several,
  VOLUMES,
  ZONE,
} from "./objects.ts";

export interface Pods {
  readonly count: number;
  make(at: number): core.Pod;
}

/** Goes on while pods are measured. */
export interface Churn {
  readonly everyMs: number;
  /** Resolves to the number of pods that it has made and that will be bound. */
  round(cluster: BenchCluster, round: number): Promise<number>;
}

export interface Workload {
  readonly name: string;
  /** What the original reaches at least. */
  readonly bound?: number;
  readonly nodes: number;
  readonly zones?: readonly string[];
  /** Before there are pods. */
  prepare?(cluster: BenchCluster, scale: number): Promise<void>;
  /** Pods that are there before, and have to be bound. */
  readonly before?: Pods;
  readonly measured: Pods;
  readonly churn?: Churn;
  /** Controllers that run beside the scheduler. */
  readonly controllers?: readonly string[];
  /** So many Pods at a time: created, bound and deleted before the next ones. */
  readonly rounds?: number;
}

const MOONS = ["moon-1", "moon-2", "moon-3"];
const blue = { color: "blue" };
const green = { color: "green" };
const [EARLIER, MEASURED] = ["sched-0", "sched-1"];
const BOTH = [MEASURED, EARLIER];
const NAMED = "scheduler-perf-node";

const high = { priorityClassName: "high" };
/** Takes the place of three that are less important. */
const preempting = { ...high, containers: [container("3000m")] };
/** Nobody who goes would help. */
const tooLarge = {
  ...high,
  containers: [{ ...container("9"), resources: { requests: { cpu: "9", memory: "500Mi" } } }],
};
/** Four fill a node but for 400m. */
const preempted = { terminationGracePeriodSeconds: 0, containers: [container("900m")] };

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
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: ZONE, labelSelector: { matchLabels: blue }, namespaces: BOTH },
      ],
    },
  },
};

const apart: Partial<core.PodSpec> = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: HOSTNAME, labelSelector: { matchLabels: green }, namespaces: BOTH },
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

/** As pods of a DaemonSet; all for one node, which goes the same way as each for its own. */
function onNode(name: string): Partial<core.PodSpec> {
  const nodeSelectorTerms = [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: [name] }] }];
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
  return { affinity, containers: [bareContainer] };
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
  await cluster.create(PRIORITY_CLASSES, [{ metadata: { name: "high" }, value: 10 } as never]);
}

async function namespaces(cluster: BenchCluster): Promise<void> {
  await cluster.create(NAMESPACES, [{ metadata: { name: EARLIER } }, { metadata: { name: MEASURED } }]);
}

/** A pod of this kind five times a second. */
function incoming(spec: Partial<core.PodSpec>, isBound: boolean): Churn {
  return {
    everyMs: 200,
    async round(cluster, round) {
      await cluster.create(PODS, [pod(`incoming-${round}`, spec)]);
      return isBound ? 1 : 0;
    },
  };
}

/** A node without room, a pod that fits nowhere and a service come and go. */
const mixed: Churn = {
  everyMs: 1000,
  async round(cluster, round) {
    const name = `churn-${round}`;
    await cluster.create(NODES, [nodeWith(name, { pods: "0" })]);
    await cluster.create(PODS, [pod(name, tooLarge)]);
    const spec = { selector: { app: "foo" }, ports: [{ protocol: "TCP", port: 8080, targetPort: 8080 }] };
    await cluster.create(SERVICES, [{ metadata: { name, namespace: "default" }, spec } as never]);
    const { client } = cluster;
    await client.of(PODS).in("default").delete(name);
    await client.of(SERVICES).in("default").delete(name);
    await client.of(NODES).delete(name);
    return 0;
  },
};

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
    prepare: namespaces,
    before: { count: 5_000, make: (at) => pod(`init-${at}`, near, blue, EARLIER) },
    measured: { count: 5_000, make: (at) => pod(`pod-${at}`, near, blue, MEASURED) },
  },
  {
    name: "pod anti-affinity",
    bound: 60,
    nodes: 5_000,
    prepare: namespaces,
    before: { count: 1_000, make: (at) => pod(`init-${at}`, apart, green, EARLIER) },
    measured: { count: 2_000, make: (at) => pod(`pod-${at}`, apart, green, MEASURED) },
  },
  {
    name: "mixed churn",
    bound: 265,
    nodes: 5_000,
    measured: { count: 10_000, make: (at) => pod(`pod-${at}`) },
    prepare: priorities,
    churn: mixed,
  },
  {
    name: "preemption",
    bound: 160,
    nodes: 5_000,
    prepare: priorities,
    before: { count: 20_000, make: (at) => pod(`init-${at}`, preempted) },
    measured: { count: 5_000, make: (at) => pod(`pod-${at}`) },
    churn: incoming(preempting, true),
  },
  {
    name: "preemption by every pod",
    nodes: 5_000,
    prepare: priorities,
    before: { count: 20_000, make: (at) => pod(`init-${at}`, preempted) },
    measured: { count: 5_000, make: (at) => pod(`pod-${at}`, preempting) },
  },
  {
    name: "unschedulable",
    bound: 140,
    nodes: 5_000,
    prepare: priorities,
    before: { count: 100, make: (at) => pod(`init-${at}`) },
    measured: { count: 10_000, make: (at) => pod(`pod-${at}`) },
    churn: incoming(tooLarge, false),
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
    prepare: (cluster) => cluster.create(NODES, [nodeWith(NAMED, { cpu: "4", memory: "32Gi", pods: "90000" })]),
    measured: { count: 30_000, make: (at) => pod(`pod-${at}`, onNode(NAMED)) },
  },
];
