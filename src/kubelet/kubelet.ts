/**
 * A kubelet: puts the parts together and runs until its signal aborts. Containers keep running; the next kubelet adopts
 * them.
 *
 *     machine ──► Registration ══► Node, Lease
 *     API, files, URL --► nodePods ──► runtime
 *     housekeeping ···► images, logs, disk, evictions
 *     serve(kubelet)                                  the kubelet's own server
 *
 * `runKubelet` is the order of the phases; each phase is a function below it or in the file that it names.
 */
import { type core, defaultFeatures, type Features, kinds, qosClassOf } from "#api";
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
import { type Client, type EventRecorder, eventRecorder } from "#client";
import { admitPod, admitResize, Usage } from "./admission/index.ts";
import type { KubeletConfig } from "./config/index.ts";
import type { NodeFacts } from "./containers/index.ts";
import { type NodeCsi, nodeCsi } from "./csi/index.ts";
import { pressureProblem, SHUTDOWN_REJECTION } from "./eviction/index.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { type KubeletHost, machineHost } from "./kubelet-host.ts";
import { REDUCED_CRASH_BACKOFF } from "./lifecycle/index.ts";
import { startMachineShutdown } from "./machine-shutdown.ts";
import {
  type Amounts,
  allocatableOf,
  capacityOf,
  imageList,
  type NodeReport,
  nodeAddresses,
  nodeConditions,
  nodeLabels,
  type Pressure,
  Registration,
} from "./node/index.ts";
import { type NodePods, nodePods } from "./node-pods.ts";
import { containerNetwork } from "./probes/index.ts";
import type { Runtime, RuntimeStatus, RuntimeVersion } from "./runtime/runtime.ts";
import { servedKubelet } from "./served-kubelet.ts";
import type { ServedKubelet } from "./server/index.ts";
import { startVolumeUsages } from "./volume-statistics.ts";
import type { CsiVolumes } from "./volumes/index.ts";

const RUNTIME_RETRY_MS = 1000;

export interface KubeletOptions {
  readonly config: KubeletConfig;
  /** As system:node:<name>. */
  readonly client: Client;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** The Node's kubeletVersion: v1.36.4+k8ts… */
  readonly version: string;
  readonly csi?: CsiVolumes | undefined;
  /** Default: those of v1.36. */
  readonly features?: Features | undefined;
  /** Default: this machine. */
  readonly host?: KubeletHost | undefined;
  /** Aborts when the machine shuts down: Pods end in order, then the kubelet. */
  readonly shutdown?: AbortSignal | undefined;
  /** Runs beside the kubelet and ends with it: its server. */
  readonly serve?: ((kubelet: ServedKubelet, signal: AbortSignal) => Promise<void>) | undefined;
}

export async function runKubelet(options: KubeletOptions, signal: AbortSignal): Promise<void> {
  const { config, client, runtime, clock, random, log, serve } = options;
  const csi = await csiOf(options, () => registration.changed());
  const host = options.host ?? (await machineHost({ ...options, csi: options.csi ?? csi?.volumes }));
  const version = await runtimeVersion(options, signal);
  using ending = childController(signal);
  const tasks = new TaskGroup({ parent: ending.signal });
  const recorder = eventRecorder({
    events: client.of(kinds.Event),
    controller: "kubelet",
    instance: config.nodeName,
    clock,
    random,
    log,
  });
  const state = newState(options, host);
  const registration = registrationOf(options, host, version, state, { csi, runtimeProblem: () => pods.pleg.problem });
  const registered = Promise.withResolvers<void>();
  const pods = podsOf(options, {
    host,
    version,
    state,
    recorder,
    tasks,
    registration,
    registered: registered.promise,
  });
  startRegistration(tasks, registration, registered.resolve);
  if (csi !== undefined)
    tasks.run("plugins", async (running) => {
      await abortable(registered.promise, running);
      await csi.run(running);
    });
  startHousekeeping({
    config,
    runtime,
    usage: host.usage,
    workers: pods.workers,
    tasks,
    clock,
    log,
    onPressures: (pressures) => {
      state.pressures = pressures;
      registration.changed();
    },
  });
  startMachineShutdown({
    config,
    shutdown: options.shutdown,
    pods,
    tasks,
    clock,
    log,
    onBegin: () => {
      state.isShuttingDown = true;
      registration.changed();
    },
    onEnd: () => ending.abort(),
  });
  const volumes = startVolumeUsages({ ...options, pods, tasks });
  const kubelet = servedKubelet({ config, runtime, client, pods, volumes, signal: tasks.signal });
  if (serve !== undefined) tasks.run("server", (running) => serve(kubelet, running));
  try {
    await tasks.done();
  } finally {
    await recorder.flush();
  }
}

/** What is true of the node, and what changes while its kubelet runs. */
interface NodeState {
  readonly capacity: Amounts;
  readonly allocatable: Amounts;
  readonly facts: () => NodeFacts;
  /** The Node object as it was last read or written. */
  node: core.Node;
  pressures: ReadonlySet<Pressure>;
  isShuttingDown: boolean;
}

function newState({ config }: KubeletOptions, { machine }: KubeletHost): NodeState {
  const { nodeName, nodeIps, clusterDns, clusterDomain, cgroupRoot, rootDir, podLogsRoot } = config;
  const capacity = capacityOf(machine, config.maxPods);
  const allocatable = allocatableOf(capacity, {
    kube: config.kubeReserved,
    system: config.systemReserved,
    evictionMemory: config.evictionHard["memory.available"] ?? "0",
  });
  const facts: NodeFacts = {
    nodeName,
    nodeIps,
    allocatable,
    memoryCapacityBytes: machine.memoryBytes,
    clusterDns,
    clusterDomain,
    resolver: machine.resolver,
    cgroupRoot,
    seccompRoot: `${rootDir}/seccomp`,
    seccompDefault: config.seccompDefault,
    podLogsRoot,
  };
  return {
    capacity,
    allocatable,
    facts: () => facts,
    node: { metadata: { name: nodeName } },
    pressures: new Set(),
    isShuttingDown: false,
  };
}

function registrationOf(
  { config, client, runtime, clock, random, log, version: kubeletVersion }: KubeletOptions,
  { machine }: KubeletHost,
  { runtimeName, runtimeVersion: number }: RuntimeVersion,
  state: NodeState,
  { csi, runtimeProblem }: { readonly csi: NodeCsi | undefined; readonly runtimeProblem: () => string | undefined },
): Registration {
  const { nodeName, nodeIps, taints, providerId, port } = config;
  const report = async (signal: AbortSignal): Promise<NodeReport> => {
    const status = await runtimeStatus(runtime, signal);
    const { capacity, allocatable, pressures, isShuttingDown } = state;
    return {
      machine,
      capacity,
      allocatable,
      addresses: nodeAddresses(nodeName, nodeIps),
      conditions: nodeConditions({
        runtime: status,
        runtimeProblem: runtimeProblem(),
        pressures,
        isShuttingDown,
      }),
      images: status === undefined ? [] : imageList(await runtime.images.list(signal)),
      kubeletPort: port,
      runtimeVersion: `${runtimeName}://${number}`,
      kubeletVersion,
      runtimeHandlers: status?.handlers ?? [],
      volumesInUse: csi?.inUse(),
    };
  };
  return new Registration({
    nodeName,
    client,
    clock,
    random,
    log,
    labels: nodeLabels(nodeName, machine.architecture, config.nodeLabels),
    taints,
    providerId,
    onNode: (node) => {
      state.node = node;
      csi?.onNode(node);
    },
    report,
  });
}

interface PodsContext {
  readonly host: KubeletHost;
  readonly version: RuntimeVersion;
  readonly state: NodeState;
  readonly recorder: EventRecorder;
  readonly tasks: TaskGroup;
  readonly registration: Registration;
  readonly registered: Promise<void>;
}

function podsOf(options: KubeletOptions, context: PodsContext): NodePods {
  const { config, client, runtime, clock, random, log, metrics, features = defaultFeatures } = options;
  const { host, version, state, recorder, tasks, registration, registered } = context;
  const { nodeName, allowedUnsafeSysctls, staticPodPath: path, staticPodUrl: url } = config;
  // Others may have added extended resources to the Node.
  const allocatable = () => ({ ...state.node.status?.allocatable, ...state.allocatable });
  return nodePods({
    nodeName,
    client,
    runtime,
    runtimeName: version.runtimeName,
    network: containerNetwork(),
    files: host.files,
    volumes: (objects) => host.volumes(objects, state.facts),
    cgroups: host.cgroups,
    facts: state.facts,
    admit: (pod, active) =>
      (state.isShuttingDown ? SHUTDOWN_REJECTION : undefined) ??
      pressureProblem(pod, state.pressures, qosClassOf(pod) === "BestEffort") ??
      admitPod(pod, Usage.of(active), { node: state.node, allocatable: allocatable(), allowedUnsafeSysctls }),
    admitResize: (pod, active) => admitResize(pod, Usage.of(active), allocatable()),
    crashBackoff: features.enabled("ReduceDefaultCrashLoopBackOffDecay") ? REDUCED_CRASH_BACKOFF : undefined,
    manifests: path === undefined && url === undefined ? undefined : { path, url },
    node: () => registration.node,
    recorder,
    clock,
    random,
    log,
    tasks,
    metrics,
    registered,
  });
}

/** Undefined where the host, or its volumes, are given: tests have their own. */
async function csiOf(options: KubeletOptions, onChange: () => void): Promise<NodeCsi | undefined> {
  if (options.host !== undefined || options.csi !== undefined) return undefined;
  const { rootDir: root, nodeName } = options.config;
  return nodeCsi({ ...options, root, nodeName, onChange });
}

/** The Node exists before its status is kept up to date. */
function startRegistration(tasks: TaskGroup, registration: Registration, onRegistered: () => void): void {
  tasks.run("registration", async (signal) => {
    await registration.register(signal);
    onRegistered();
    tasks.run("node status", (running) => registration.runStatus(running));
    tasks.run("node lease", (running) => registration.runLease(running));
  });
}

/** The runtime may start later than the kubelet. */
async function runtimeVersion({ runtime, clock, log }: KubeletOptions, signal: AbortSignal): Promise<RuntimeVersion> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await runtime.version(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isFirst) log.warn("the container runtime does not answer yet", { error });
    }
    await clock.sleep(RUNTIME_RETRY_MS, signal);
  }
}

/** Undefined if the runtime does not answer: the Node's Ready condition reports it. */
async function runtimeStatus(runtime: Runtime, signal: AbortSignal): Promise<RuntimeStatus | undefined> {
  try {
    return await runtime.status(signal);
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    return undefined;
  }
}
