/**
 * Small random clusters with many conflicts: nearly full nodes, few labels and many selectors, taints, colliding ports.
 *
 * 1. The same seed gives the same cluster.
 * 2. Every object could come from the API server: names and uids are unique, and defaults are filled in.
 */
import type { core } from "#api";
import type { Random } from "#base";
import { namespace, node, pod } from "./builders.ts";
import type { PlainCluster } from "./plain/index.ts";
import { randomAffinity, randomNodeAffinity } from "./random-affinity.ts";
import { APPS, chance, list, NAMESPACES, ZONE } from "./random-parts.ts";

export interface RandomCluster {
  readonly cluster: PlainCluster;
  /** To be placed. */
  readonly pod: core.Pod;
}

export interface RandomSizes {
  /** At most; at least one. */
  readonly nodes?: number;
  readonly pods?: number;
}

const IMAGES = ["web:1", "db:2", "registry:5000/cache", "tool:latest"] as const;

export function randomCluster(random: Random, sizes: RandomSizes = {}): RandomCluster {
  const nodes = list(random, 1, sizes.nodes ?? 6, (i) => randomNode(random, `n${i}`));
  const names = nodes.map(({ metadata }) => metadata.name ?? "");
  const placed = list(random, 0, sizes.pods ?? 12, (i) => {
    const one = randomPod(random, `old-${i}`, names);
    return { ...one, spec: { ...one.spec, containers: one.spec?.containers ?? [], nodeName: random.pick(names) } };
  });
  return {
    cluster: {
      nodes,
      pods: placed.map((one) => ended(one, random)),
      namespaces: NAMESPACES.map((name, i) => namespace(name, { team: `t${i % 2}` })),
      services: APPS.filter(() => chance(random, 0.4)).map(serviceOf),
    },
    pod: randomPod(random, "new", names),
  };
}

function serviceOf(app: string): core.Service {
  return { metadata: { name: app, namespace: "default", uid: `svc-${app}` }, spec: { selector: { app } } };
}

function randomNode(random: Random, name: string): core.Node {
  return node(name, {
    labels: {
      ...(chance(random, 0.85) ? { [ZONE]: random.pick(["z1", "z2", "z3"]) } : {}),
      ...(chance(random, 0.5) ? { disk: random.pick(["ssd", "hdd"]) } : {}),
      ...(chance(random, 0.3) ? { cores: String(random.integer(4) * 4) } : {}),
    },
    allocatable: {
      cpu: random.pick(["1", "2", "3900m", "8"]),
      memory: random.pick(["1Gi", "2Gi", "3500M", "16Gi"]),
      pods: String(3 + random.integer(12)),
      ...(chance(random, 0.3) ? { "example.com/gpu": "2" } : {}),
      ...(chance(random, 0.3) ? { "ephemeral-storage": "5Gi" } : {}),
    },
    taints: chance(random, 0.35)
      ? ["gpu", "spot"].filter(() => chance(random, 0.6)).map((key) => randomTaint(random, key))
      : [],
    unschedulable: chance(random, 0.08),
    images: Object.fromEntries(
      IMAGES.filter(() => chance(random, 0.4)).map((image, i) => [
        image.endsWith("cache") ? `${image}:latest` : image,
        100 + i * 300,
      ]),
    ),
  });
}

function randomTaint(random: Random, key: string): core.Taint {
  return {
    key,
    ...(chance(random, 0.5) ? { value: "yes" } : {}),
    effect: random.pick(["NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"]),
  };
}

function randomToleration(random: Random): core.Toleration {
  const effect = chance(random, 0.5)
    ? { effect: random.pick(["NoSchedule", "PreferNoSchedule", "NoExecute"] as const) }
    : {};
  if (chance(random, 0.2)) return { operator: "Exists", ...effect };
  const key = random.pick(["gpu", "spot"]);
  if (chance(random, 0.5)) return { key, operator: "Exists", ...effect };
  return { key, operator: "Equal", value: random.pick(["yes", "no"]), ...effect };
}

function randomPod(random: Random, name: string, nodes: readonly string[]): core.Pod {
  const labels = {
    app: random.pick(APPS),
    ...(chance(random, 0.5) ? { rev: random.pick(["1", "2"]) } : {}),
  };
  const containers = list(random, 1, 2, (i) => randomContainer(random, `c${i}`));
  const initContainers = chance(random, 0.15) ? list(random, 1, 2, (i) => randomInit(random, `i${i}`)) : [];
  const spec: core.PodSpec = {
    containers,
    schedulerName: "default-scheduler",
    ...(initContainers.length > 0 ? { initContainers } : {}),
    ...(chance(random, 0.1)
      ? { overhead: { cpu: "50m", memory: "32Mi" } }
      : randomPodLevel(random, [...initContainers, ...containers])),
    ...(chance(random, 0.08) ? { volumes: [{ name: "mounted", image: { reference: random.pick(IMAGES) } }] } : {}),
    ...(chance(random, 0.15) ? { nodeSelector: { disk: random.pick(["ssd", "hdd"]) } } : {}),
    ...(chance(random, 0.3) ? { tolerations: list(random, 1, 2, () => randomToleration(random)) } : {}),
    ...(chance(random, 0.4) ? { topologySpreadConstraints: randomSpread(random, labels) } : {}),
    ...(chance(random, 0.55) ? { affinity: randomAffinity(random, labels, nodes) } : {}),
    ...(chance(random, 0.04) ? { affinity: { nodeAffinity: randomNodeAffinity(random, nodes) } } : {}),
  };
  return pod(name, { namespace: random.pick(["default", "default", "team-a", "team-b"]), labels, spec });
}

/** The API server fills in pod-level requests from the containers. */
function randomPodLevel(random: Random, containers: readonly core.Container[]): Partial<core.PodSpec> {
  if (!chance(random, 0.1)) return {};
  const asksForMemory = containers.some(({ resources }) => resources?.requests?.memory !== undefined);
  return { resources: { requests: { cpu: "1500m", ...(asksForMemory ? { memory: "2Gi" } : {}) } } };
}

function randomContainer(random: Random, name: string): core.Container {
  const requests = {
    ...(chance(random, 0.7) ? { cpu: random.pick(["0", "100m", "250m", "1"]) } : {}),
    ...(chance(random, 0.7) ? { memory: random.pick(["64Mi", "300M", "1Gi"]) } : {}),
    ...(chance(random, 0.08) ? { "example.com/gpu": "1" } : {}),
    ...(chance(random, 0.08) ? { "ephemeral-storage": "2Gi" } : {}),
  };
  const hostPort = random.pick([8080, 8081]);
  return {
    name,
    image: random.pick(IMAGES),
    ...(Object.keys(requests).length > 0 ? { resources: { requests } } : {}),
    ...(chance(random, 0.12)
      ? {
          ports: [
            {
              containerPort: hostPort,
              hostPort,
              protocol: random.pick(["TCP", "UDP"] as const),
              ...(chance(random, 0.3) ? { hostIP: random.pick(["10.0.0.1", "0.0.0.0"]) } : {}),
            },
          ],
        }
      : {}),
  };
}

function randomInit(random: Random, name: string): core.Container {
  const container = randomContainer(random, name);
  return chance(random, 0.4) ? { ...container, restartPolicy: "Always" } : container;
}

function randomSpread(random: Random, labels: Readonly<Record<string, string>>): core.TopologySpreadConstraint[] {
  const keys = chance(random, 0.3) ? [ZONE, "kubernetes.io/hostname"] : [random.pick([ZONE, "kubernetes.io/hostname"])];
  return keys.map((topologyKey) => {
    const hard = chance(random, 0.5);
    return {
      topologyKey,
      maxSkew: 1 + random.integer(3),
      whenUnsatisfiable: hard ? "DoNotSchedule" : "ScheduleAnyway",
      labelSelector: chance(random, 0.1) ? {} : { matchLabels: { app: random.pick(APPS) } },
      ...(hard && chance(random, 0.3) ? { minDomains: 1 + random.integer(3) } : {}),
      ...(chance(random, 0.3) ? { nodeAffinityPolicy: random.pick(["Honor", "Ignore"] as const) } : {}),
      ...(chance(random, 0.3) ? { nodeTaintsPolicy: random.pick(["Honor", "Ignore"] as const) } : {}),
      ...(labels.rev !== undefined && chance(random, 0.2) ? { matchLabelKeys: ["rev"] } : {}),
    };
  });
}

/** A few have finished or are terminating. */
function ended(one: core.Pod, random: Random): core.Pod {
  if (chance(random, 0.08)) return { ...one, status: { phase: random.pick(["Succeeded", "Failed"]) } };
  if (chance(random, 0.08))
    return {
      ...one,
      metadata: { ...one.metadata, deletionTimestamp: "2030-01-01T00:00:00Z" },
      status: { phase: "Running" },
    };
  return { ...one, status: { phase: "Running", ...(chance(random, 0.15) ? resizing(one, random) : {}) } };
}

/** Some containers have other allocated resources than requested; some resizes are infeasible. */
function resizing({ spec }: core.Pod, random: Random): core.PodStatus {
  const told = (containers: readonly core.Container[]): core.ContainerStatus[] =>
    containers
      .filter(() => chance(random, 0.7))
      .map(({ name, image = "" }) => ({
        ...{ name, image, imageID: "", ready: true, restartCount: 0 },
        ...(chance(random, 0.8) ? { resources: { requests: { cpu: random.pick(["50m", "500m", "2"]) } } } : {}),
        ...(chance(random, 0.5) ? { allocatedResources: { cpu: random.pick(["50m", "1"]) } } : {}),
      }));
  return {
    containerStatuses: told(spec?.containers ?? []),
    initContainerStatuses: told(spec?.initContainers ?? []),
    conditions: chance(random, 0.4) ? [{ type: "PodResizePending", status: "True", reason: "Infeasible" }] : [],
  };
}
