/**
 * A kubelet: puts the parts together and runs until its signal aborts. Containers keep running; the next kubelet takes them up.
 *
 *     machine ──► Registration ══► Node, Lease
 *     API, files, URL --► nodePods ──► runtime
 *     serve(kubelet)                                  the kubelet's own server, made elsewhere
 */
import { type core, qosClassOf } from "#api";
import {
  abortable,
  type Clock,
  childController,
  isAbort,
  type Logger,
  type MetricsRegistry,
  type Random,
  TaskGroup,
} from "#base";
import { type Client, eventRecorder } from "#client";
import type { KubeletConfig } from "./config.ts";
import type { NodeFacts } from "./containers/index.ts";
import { podLogDirectory } from "./containers/index.ts";
import { Event } from "./kinds.ts";
import {
  admitPod,
  admitResize,
  allocatableOf,
  capacityOf,
  hostCgroups,
  hostFiles,
  ImageGc,
  type Machine,
  type NodeReport,
  nodeConditions,
  nodeLabels,
  type Pressure,
  pressureProblem,
  Registration,
  readHierarchies,
  readMachine,
  readUsage,
  runEvictor,
  runLocalStorage,
  runLogRotation,
  SHUTDOWN_REJECTION,
  shutDownPods,
} from "./node/index.ts";
import { type NodePods, nodePods } from "./node-pods.ts";
import { isFinal } from "./pod-status/index.ts";
import { lookAtPod, newest } from "./pods/index.ts";
import { containerNetwork } from "./probes/index.ts";
import type { ContainerStatus, Runtime, RuntimeStatus } from "./runtime/runtime.ts";
import { type CsiVolumes, hostMounter, hostVolumes } from "./volumes/index.ts";

const TOLD_MS = 5000;
const POLL_MS = 100;

export interface KubeletOptions {
  readonly config: KubeletConfig;
  /** As system:node:<name>. */
  readonly client: Client;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** As the Node tells it: v1.36.4+k8ts… */
  readonly version: string;
  readonly csi?: CsiVolumes;
  /** Aborts when the machine goes down: Pods end in order, then the kubelet. */
  readonly shutdown?: AbortSignal;
  /** Runs beside the kubelet and ends with it: its server. */
  readonly serve?: (kubelet: Kubelet, signal: AbortSignal) => Promise<void>;
}

/** What others may see of a kubelet. */
export interface Kubelet {
  readonly config: KubeletConfig;
  readonly runtime: Runtime;
  readonly client: Client;
  readonly facts: () => NodeFacts;
  /** Every Pod that the node has, with the newest status. */
  pods(): readonly core.Pod[];
  pod(namespace: string, name: string): core.Pod | undefined;
  /** The newest instance of a container; with `previous` the one before it. */
  container(
    pod: core.Pod,
    name: string,
    options?: { readonly previous?: boolean; readonly signal?: AbortSignal },
  ): Promise<ContainerStatus | undefined>;
  /** Of one container: its files are `<attempt>.log`, rotated ones have a time behind it. */
  logDirectory(pod: core.Pod, container: string): string;
  /** Undefined while the runtime and the kubelet itself are well. */
  problem(): string | undefined;
}

export async function runKubelet(options: KubeletOptions, signal: AbortSignal): Promise<void> {
  const { config, client, runtime, clock, random, log } = options;
  const machine = await readMachine(config.rootDir, config.resolvConf);
  const { runtimeName, runtimeVersion } = await runtimeReady(options, signal);
  const capacity = capacityOf(machine, config.maxPods);
  const allocatable = allocatableOf(capacity, {
    kube: config.kubeReserved,
    system: config.systemReserved,
    evictionMemory: config.evictionHard["memory.available"] ?? "0",
  });
  const facts = () => factsOf(config, machine, allocatable);
  let pressures: ReadonlySet<Pressure> = new Set();
  let isShuttingDown = false;
  using ending = childController(signal);
  const started = Promise.withResolvers<void>();
  let node: core.Node = { metadata: { name: config.nodeName } };

  const tasks = new TaskGroup({ parent: ending.signal });
  const recorder = eventRecorder({
    events: client.of(Event),
    controller: "kubelet",
    instance: config.nodeName,
    clock,
    random,
    log,
  });
  const mounter = hostMounter();
  const manifests = manifestsOf(config);
  const registration = new Registration({
    nodeName: config.nodeName,
    client,
    clock,
    random,
    log,
    labels: nodeLabels(config.nodeName, machine, config.nodeLabels),
    taints: config.taints,
    ...(config.providerId !== undefined && { providerId: config.providerId }),
    onNode: (read) => {
      node = read;
    },
    report: async (asking): Promise<NodeReport> => {
      const status = await runtimeStatus(runtime, asking);
      return {
        machine,
        capacity,
        allocatable,
        addresses: addressesOf(config),
        conditions: nodeConditions({
          runtime: status,
          runtimeProblem: pods.pleg.problem,
          pressures,
          isShuttingDown,
        }),
        images: status === undefined ? [] : await runtime.images.list(asking),
        kubeletPort: config.port,
        runtimeVersion: `${runtimeName}://${runtimeVersion}`,
        kubeletVersion: options.version,
        runtimeHandlers: status?.handlers ?? [],
      };
    },
  });
  const pods = nodePods({
    nodeName: config.nodeName,
    client,
    runtime,
    runtimeName,
    network: containerNetwork(),
    files: hostFiles({ root: config.rootDir, podLogsRoot: config.podLogsRoot, mounter }),
    volumes: (objects) =>
      hostVolumes({
        root: config.rootDir,
        mounter,
        client,
        objects,
        facts,
        clock,
        random,
        log,
        ...(options.csi !== undefined && { csi: options.csi }),
      }),
    cgroups: hostCgroups(await readHierarchies(), config.cgroupRoot, log),
    facts,
    admit: (pod, active) =>
      (isShuttingDown ? SHUTDOWN_REJECTION : undefined) ??
      pressureProblem(pod, pressures, qosClassOf(pod) === "BestEffort") ??
      admitPod(pod, active, {
        node,
        allocatable: { ...node.status?.allocatable, ...allocatable },
        allowedUnsafeSysctls: config.allowedUnsafeSysctls,
      }),
    admitResize: (pod, others) => admitResize(pod, others, { ...node.status?.allocatable, ...allocatable }),
    ...(manifests !== undefined && { manifests }),
    node: () => registration.node,
    recorder,
    clock,
    random,
    log,
    tasks,
    metrics: options.metrics,
    registered: started.promise,
  });
  tasks.run("registration", async (running) => {
    await registration.register(running);
    started.resolve();
    tasks.run("node status", (asking) => registration.runStatus(asking));
    tasks.run("node lease", (asking) => registration.runLease(asking));
  });
  const usage = () => readUsage(config.rootDir);
  const images = new ImageGc({
    runtime,
    usage,
    highPercent: config.imageGcHighPercent,
    lowPercent: config.imageGcLowPercent,
    clock,
    log,
  });
  tasks.run("image garbage collection", (running) => images.run(running));
  tasks.run("log rotation", (running) =>
    runLogRotation(
      {
        runtime,
        podLogsRoot: config.podLogsRoot,
        maxBytes: config.containerLogMaxBytes,
        maxFiles: config.containerLogMaxFiles,
        clock,
        log,
      },
      running,
    ),
  );
  const { rootDir, podLogsRoot } = config;
  tasks.run("limits of local storage", (running) =>
    runLocalStorage({ runtime, workers: pods.workers, rootDir, podLogsRoot, clock, log }, running),
  );
  tasks.run("eviction", (running) =>
    runEvictor(
      {
        runtime,
        workers: pods.workers,
        images,
        usage,
        thresholds: config.evictionHard,
        clock,
        log,
        onPressures: (now) => {
          pressures = now;
          registration.changed();
        },
      },
      running,
    ),
  );
  const kubelet: Kubelet = {
    config,
    runtime,
    client,
    facts,
    pods: () => pods.workers.list().map(({ uid, pod }) => withStatus(pod, pods.status.get(uid))),
    pod(namespace, name) {
      const found = pods.workers
        .list()
        .filter(({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name)
        .at(-1);
      return found && withStatus(found.pod, pods.status.get(found.uid));
    },
    async container(pod, name, { previous = false, signal: asking = tasks.signal } = {}) {
      const found = await lookAtPod(runtime, pod.metadata.uid ?? "", asking);
      if (!previous) return newest(found, name);
      const current = newest(found, name);
      return newest({ ...found, containers: found.containers.filter((each) => each !== current) }, name);
    },
    logDirectory: (pod, container) => `${podLogDirectory(config.podLogsRoot, pod)}/${container}`,
    problem: () => pods.pleg.problem,
  };
  const { serve, shutdown } = options;
  if (shutdown !== undefined && config.shutdownPeriods.length > 0) {
    tasks.run("shutdown of the machine", async (running) => {
      await abortOf(shutdown, running);
      isShuttingDown = true;
      registration.changed();
      await shutDownPods({ workers: pods.workers, periods: config.shutdownPeriods, clock, log }, running);
      await untilTold(pods, clock, running);
      ending.abort();
    });
  }
  if (serve !== undefined) tasks.run("server", (running) => serve(kubelet, running));
  try {
    await tasks.done();
  } finally {
    await recorder.flush();
  }
}

async function abortOf(awaited: AbortSignal, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (awaited.aborted) resolve();
  else awaited.addEventListener("abort", () => resolve(), { once: true });
  await abortable(promise, signal);
}

/** What became of Pods is to be known before the machine is gone; but it does not wait for an API server that is away. */
async function untilTold({ workers, api }: NodePods, clock: Clock, signal: AbortSignal): Promise<void> {
  const deadline = clock.monotonic() + TOLD_MS;
  const isTold = (uid: string) => {
    const found = api.cache.list().find(({ metadata }) => metadata.uid === uid);
    return found === undefined || isFinal(found.status?.phase);
  };
  const ended = () => workers.list().filter(({ state }) => state === "terminated");
  while (clock.monotonic() < deadline && !ended().every(({ uid }) => isTold(uid))) await clock.sleep(POLL_MS, signal);
}

/** The runtime may start later than the kubelet. */
async function runtimeReady({ runtime, clock, log }: KubeletOptions, signal: AbortSignal) {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await runtime.version(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isFirst) log.warn("the container runtime does not answer yet", { error });
    }
    await clock.sleep(1000, signal);
  }
}

async function runtimeStatus(runtime: Runtime, signal: AbortSignal): Promise<RuntimeStatus | undefined> {
  try {
    return await runtime.status(signal);
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    // That it does not answer is what the Node then says.
    return undefined;
  }
}

function factsOf(config: KubeletConfig, machine: Machine, allocatable: NodeFacts["allocatable"]): NodeFacts {
  return {
    nodeName: config.nodeName,
    nodeIps: config.nodeIps,
    allocatable,
    memoryCapacityBytes: machine.memoryBytes,
    clusterDns: config.clusterDns,
    clusterDomain: config.clusterDomain,
    resolver: machine.resolver,
    cgroupRoot: config.cgroupRoot,
    seccompRoot: `${config.rootDir}/seccomp`,
    podLogsRoot: config.podLogsRoot,
  };
}

function manifestsOf({ staticPodPath: path, staticPodUrl: url }: KubeletConfig) {
  if (path === undefined && url === undefined) return undefined;
  return { ...(path !== undefined && { path }), ...(url !== undefined && { url }) };
}

function addressesOf({ nodeIps, nodeName }: KubeletConfig): readonly core.NodeAddress[] {
  return [...nodeIps.map((address) => ({ type: "InternalIP", address })), { type: "Hostname", address: nodeName }];
}

function withStatus(pod: core.Pod, status: core.PodStatus | undefined): core.Pod {
  return status === undefined ? pod : { ...pod, status };
}
