/** A kubelet's Pods on the simulated runtime and an API server in memory, on virtual time. */
import { type core, kinds } from "#api";
import { MetricsRegistry, seededRandom, silentLogger, TaskGroup, type VirtualClock } from "#base";
import { Client, eventRecorder, inProcess } from "#client";
import type { Tracer } from "#tracing";
import { type TestServer, testServer } from "../../apiserver/testing/index.ts";
import type { ResizeVerdict } from "../admission/resize.ts";
import type { NodeFacts } from "../containers/index.ts";
import type { PodFailure } from "../lifecycle/index.ts";
import { type NodePods, nodePods } from "../node-pods.ts";
import type { ContainerNetwork } from "../probes/index.ts";
import { countedRuntime } from "../runtime/runtime-metrics.ts";
import { type Script, type SimulatedRuntime, simulatedRuntime } from "../runtime/simulated/index.ts";
import { type MemoryHost, memoryHost } from "./memory-host.ts";

export const TEST_FACTS: NodeFacts = {
  nodeName: "node-1",
  nodeIps: ["192.168.0.1"],
  allocatable: { cpu: "2", memory: "4Gi", pods: "110" },
  memoryCapacityBytes: 4 * 1024 ** 3,
  clusterDns: ["10.96.0.10"],
  clusterDomain: "cluster.local",
  resolver: { servers: ["9.9.9.9"], searches: ["example.com"], options: [] },
  cgroupRoot: "/",
  seccompRoot: "/var/lib/kubelet/seccomp",
  seccompDefault: false,
  podLogsRoot: "/var/log/pods",
};

export interface TestKubeletOptions {
  readonly script?: Script;
  readonly network?: Partial<ContainerNetwork>;
  readonly admitResize?: (pod: core.Pod) => ResizeVerdict;
  readonly manifests?: { readonly path: string };
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly admit?: (pod: core.Pod, active: readonly core.Pod[]) => PodFailure | undefined;
}

export interface TestKubelet {
  readonly server: TestServer;
  readonly clock: VirtualClock;
  readonly client: Client;
  readonly runtime: SimulatedRuntime;
  readonly host: MemoryHost;
  /** Of the kubelet that runs now. */
  readonly metrics: () => MetricsRegistry;
  readonly pods: () => NodePods;
  create(pod: core.Pod): Promise<core.Pod>;
  get(name: string): Promise<core.Pod>;
  /** Events in order. */
  events(): Promise<readonly core.Event[]>;
  settle(): Promise<void>;
  /** kill -9 and a new kubelet. Containers keep running. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const REFUSED: ContainerNetwork = {
  httpGet: async () => ({ status: 200, body: "" }),
  tcpConnect: async () => {},
  grpcHealth: async () => 1,
};

export async function testKubelet(options: TestKubeletOptions = {}): Promise<TestKubelet> {
  const server = await testServer();
  const { clock } = server;
  const contents = new Map<string, string>();
  const host = memoryHost(contents);
  const runtime = simulatedRuntime({ clock, files: contents, script: options.script });
  const clientOf = (name: string) =>
    new Client({ transport: inProcess(server.handle, { name, groups: ["system:masters"] }), clock });
  const client = clientOf("admin");
  let tasks = new TaskGroup();
  let metrics = new MetricsRegistry();
  const start = (): NodePods => {
    const kubelet = clientOf("system:node:node-1");
    const random = seededRandom(1);
    const log = silentLogger;
    const recorder = eventRecorder({
      events: kubelet.of(kinds.Event),
      controller: "kubelet",
      instance: "node-1",
      clock,
      random,
      log,
    });
    return nodePods({
      nodeName: "node-1",
      client: kubelet,
      runtime: countedRuntime(runtime, metrics, clock),
      runtimeName: "simulated",
      network: { ...REFUSED, ...options.network },
      files: host.files,
      volumes: () => host.volumes,
      cgroups: host.cgroups,
      facts: () => TEST_FACTS,
      admit: options.admit ?? (() => undefined),
      admitResize: options.admitResize ?? (() => ({ fits: true })),
      manifests: options.manifests,
      tracer: options.tracer,
      node: () => undefined,
      recorder,
      clock,
      random,
      log,
      tasks,
      metrics,
      registered: Promise.resolve(),
    });
  };
  let pods = start();
  await server.settle();
  return {
    server,
    clock,
    client,
    runtime,
    host,
    metrics: () => metrics,
    pods: () => pods,
    async create(pod) {
      const created = await client.of(kinds.Pod).in("default").create(pod);
      await server.settle();
      return created;
    },
    get: (name) => client.of(kinds.Pod).in("default").get(name),
    events: async () =>
      (
        await client
          .of<core.Event>({ apiVersion: "v1", kind: "Event", plural: "events", namespaced: true })
          .in("default")
          .list()
      ).items,
    settle: () => server.settle(),
    async restart() {
      await tasks.stop();
      tasks = new TaskGroup();
      metrics = new MetricsRegistry();
      pods = start();
      await server.settle();
    },
    async close() {
      await tasks.stop();
      await runtime.close();
      await client.close();
      await server.close();
    },
  };
}
