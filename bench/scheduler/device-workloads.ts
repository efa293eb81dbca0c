/**
 * The shapes of scheduler_perf for dynamic resource allocation, with the lower bounds that are published for them
 * (500 nodes of ten devices each), and one of our own on 5,000 nodes.
 *
 * 1. Names in the suite: SchedulingWithResourceClaimTemplate, SteadyStateClusterResourceClaimTemplate (empty, half,
 *    full). The suite has 2,500 Pods before and as many measured; "claim template" has 5,000 measured ones.
 * 2. The claim controller runs beside the scheduler and makes the claims: its work counts.
 */
import type { core, KubeObject } from "#api";
import type { BenchCluster } from "./cluster.ts";
import { DEVICE_CLAIMS, DEVICE_CLASSES, DEVICE_SLICES, DEVICE_TEMPLATES, pod, several } from "./objects.ts";
import type { Workload } from "./workloads.ts";

const DRIVER = "test-driver.cdi.k8s.io";
const CLASS = "test-class";
const NODES = 500;
const OF_A_NODE = 10;
const TEMPLATE = "template";
const controllers = ["resourceclaim-controller"];

interface Devices {
  readonly nodes?: number;
  readonly ofNode?: number;
  /** Claims that exist already, unallocated, and those that have a device. */
  readonly claims?: number;
  readonly allocated?: number;
}

const requests = [{ name: "one", exactly: { deviceClassName: CLASS } }];

function devices({ nodes = NODES, ofNode = OF_A_NODE, claims = 0, allocated = 0 }: Devices) {
  return async (cluster: BenchCluster, scale: number): Promise<void> => {
    const scaled = (count: number) => Math.ceil(count * scale);
    const selectors = [{ cel: { expression: `device.driver == "${DRIVER}"` } }];
    await cluster.create(DEVICE_CLASSES, [{ metadata: { name: CLASS }, spec: { selectors } } as KubeObject]);
    const slice = (at: number) => {
      const name = `node-${at}`;
      const list = Array.from({ length: ofNode }, (_, i) => ({ name: `device-${i}` }));
      const spec = { driver: DRIVER, nodeName: name, pool: { name, generation: 1, resourceSliceCount: 1 } };
      return { metadata: { name }, spec: { ...spec, devices: list } };
    };
    await cluster.create(DEVICE_SLICES, several(scaled(nodes), slice));
    const template = { metadata: { name: TEMPLATE, namespace: "default" }, spec: { spec: { devices: { requests } } } };
    await cluster.create(DEVICE_TEMPLATES, [template as KubeObject]);
    const claim = (prefix: string) => (at: number) => ({
      metadata: { name: `${prefix}-${at}`, namespace: "default" },
      spec: { devices: { requests } },
    });
    await cluster.create(DEVICE_CLAIMS, several(scaled(claims), claim("device")));
    // All but ten of them, as the suite has it.
    const left = nodes * ofNode - allocated;
    await allocate(cluster, scaled(nodes * ofNode) - Math.min(left, scaled(left)), scaled(nodes), claim("allocated"));
  };
}

/** As if a scheduler had allocated them, evenly. */
async function allocate(cluster: BenchCluster, count: number, nodes: number, claim: (at: number) => KubeObject) {
  await cluster.create(DEVICE_CLAIMS, several(count, claim));
  const all = cluster.client.of<KubeObject>(DEVICE_CLAIMS).in("default");
  for (let at = 0; at < count; at++) {
    const node = `node-${at % nodes}`;
    const result = { request: "one", driver: DRIVER, pool: node, device: `device-${Math.floor(at / nodes)}` };
    const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
    const allocation = { devices: { results: [result] }, nodeSelector: { nodeSelectorTerms: [{ matchFields }] } };
    const known = await all.get(claim(at).metadata.name ?? "");
    await all.updateStatus({ ...known, status: { allocation } } as KubeObject);
  }
}

function made(name: string): core.Pod {
  return pod(name, { resourceClaims: [{ name: "device", resourceClaimTemplateName: TEMPLATE }] });
}

function named(name: string, claim: string): core.Pod {
  return pod(name, { resourceClaims: [{ name: "device", resourceClaimName: claim }] });
}

/** Ten Pods come, are bound and go, again and again. */
function steadyState(name: string, bound: number, allocated: number): Workload {
  return {
    name: `steady state, ${name}, device claims`,
    bound,
    nodes: NODES,
    controllers,
    prepare: devices({ allocated }),
    rounds: 10,
    measured: { count: 2_000, make: (at) => made(`pod-${at}`) },
  };
}

export const DEVICE_WORKLOADS: readonly Workload[] = [
  {
    name: "no device claims, 500 nodes",
    nodes: NODES,
    measured: { count: 5_000, make: (at) => pod(`pod-${at}`) },
  },
  {
    name: "device claims that exist, 500 nodes",
    nodes: NODES,
    prepare: devices({ claims: 5_000 }),
    measured: { count: 5_000, make: (at) => named(`pod-${at}`, `device-${at}`) },
  },
  {
    name: "device claim template, 500 nodes",
    bound: 56,
    nodes: NODES,
    controllers,
    prepare: devices({}),
    measured: { count: 5_000, make: (at) => made(`pod-${at}`) },
  },
  steadyState("empty", 64, 0),
  steadyState("half", 70, 2_500),
  steadyState("full", 60, 4_990),
  {
    name: "device claim template, 5,000 nodes of 8",
    nodes: 5_000,
    controllers,
    prepare: devices({ nodes: 5_000, ofNode: 8 }),
    measured: { count: 10_000, make: (at) => made(`pod-${at}`) },
  },
];
