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
import { defaultFeatures, type Features, kinds, qosClassOf } from "#api";
import {
  abortable,
  type Clock,
  childController,
  type Logger,
  type MetricsRegistry,
  type Random,
  TaskGroup,
} from "#base";
import { type Client, type EventRecorder, eventRecorder } from "#client";
import type { Tracer } from "#tracing";
import { admitPod, admitResize, Usage } from "./admission/index.ts";
import type { KubeletConfig } from "./config/index.ts";
import { type NodeCsi, nodeCsi } from "./csi/index.ts";
import type { NodeDevices } from "./devices/index.ts";
import { pressureProblem, SHUTDOWN_REJECTION } from "./eviction/index.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { type ImageMetrics, imageMetrics } from "./images/index.ts";
import { devicesOf, startDevices } from "./kubelet-devices.ts";
import { type KubeletHost, machineHost } from "./kubelet-host.ts";
import { startMachineShutdown } from "./machine-shutdown.ts";
import {
  addressesBeforeCloud,
  declaredFeatures,
  imageList,
  isReady,
  type NodeReport,
  type NodeStartup,
  nodeAddresses,
  nodeConditions,
  nodeLabels,
  providedIpAnnotation,
  Registration,
  shutdownMetrics,
  startupOf,
  UNINITIALIZED,
} from "./node/index.ts";
import { type NodeImages, nodeImages } from "./node-images.ts";
import { amountsOf, crashBackoffOf, managerOf, startResources } from "./node-managers.ts";
import { type NodePods, nodePods } from "./node-pods.ts";
import { enforcedLimits, podTopology, resizeProblem, resourceRules } from "./node-resources.ts";
import { type NodeState, newState } from "./node-state.ts";
import { containerNetwork } from "./probes/index.ts";
import type { Runtime, RuntimeVersion } from "./runtime/runtime.ts";
import { countedRuntime } from "./runtime/runtime-metrics.ts";
import { statusOf, versionOf } from "./runtime-answers.ts";
import { servedKubelet } from "./served-kubelet.ts";
import type { ServedKubelet } from "./server/index.ts";
import type { TopologyManager } from "./topology/index.ts";
import { startVolumeUsages } from "./volume-statistics.ts";
import type { CsiVolumes } from "./volumes/index.ts";

export interface KubeletOptions {
  readonly config: KubeletConfig;
  /** As system:node:<name>. */
  readonly client: Client;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
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

export async function runKubelet(given: KubeletOptions, signal: AbortSignal): Promise<void> {
  const startup = startupOf(given);
  const options = { ...given, runtime: countedRuntime(given.runtime, given.metrics, given.clock) };
  const { config, client, clock, random, log, metrics, serve, features = defaultFeatures } = options;
  const recorder = eventRecorder({
    events: client.of(kinds.Event),
    controller: "kubelet",
    instance: config.nodeName,
    clock,
    random,
    log,
  });
  const devices = await devicesOf(options, () => ({ registration, pods }), signal);
  const csi = await csiOf({ ...options, recorder }, devices, () => registration.changed());
  const host =
    options.host ??
    (await machineHost({
      ...options,
      csi: options.csi ?? csi?.volumes,
      rulesOf: (machine, cgroupVersion) => {
        const { allocatable } = amountsOf(config, machine);
        return resourceRules(config, machine, { cgroupVersion, features, allocatable });
      },
    }));
  const version = await versionOf(options, signal);
  using ending = childController(signal);
  const tasks = new TaskGroup({ parent: ending.signal });
  const state = newState(options, host);
  const manager = await managerOf(options, host, [devices.hints]);
  const enforced = enforcedLimits(config, state.capacity, (await host.usage()).maxProcesses);
  await host.cgroups.enforce(enforced);
  const ofImages = imageMetrics(metrics);
  const images = given.host === undefined ? await nodeImages(options) : undefined;
  const registration = registrationOf(options, host, version, state, {
    csi,
    devices,
    startup,
    runtimeProblem: () => pods.pleg.problem,
  });
  const registered = Promise.withResolvers<void>();
  const pods = podsOf(options, {
    host,
    version,
    state,
    recorder,
    tasks,
    registration,
    registered: registered.promise,
    imageMetrics: ofImages,
    images,
    devices,
    manager,
  });
  startResources(options, { host, manager, pods, tasks });
  startDevices(options, { devices, pods, manager, registered: registered.promise, tasks });
  startRegistration(tasks, registration, startup, registered.resolve);
  if (csi !== undefined)
    tasks.run("plugins", async (running) => {
      await abortable(registered.promise, running);
      await csi.run(running);
    });
  startHousekeeping({
    ...options,
    usage: host.usage,
    imageMetrics: ofImages,
    images,
    workers: pods.workers,
    tasks,
    onPressures: (pressures) => {
      state.pressures = pressures;
      registration.changed();
    },
  });
  const shutdown = shutdownMetrics(metrics, clock);
  startMachineShutdown({
    config,
    shutdown: options.shutdown,
    pods,
    tasks,
    clock,
    log,
    onBegin: () => {
      shutdown.begun();
      state.isShuttingDown = true;
      registration.changed();
    },
    onEnd: () => {
      shutdown.ended();
      ending.abort();
    },
  });
  const volumes = startVolumeUsages({ ...options, pods, tasks });
  const kubelet = servedKubelet({ ...options, pods, volumes, pulls: images?.progress, signal: tasks.signal });
  if (serve !== undefined && config.enableServer) tasks.run("server", (running) => serve(kubelet, running));
  try {
    await tasks.done();
  } finally {
    await devices.close();
    await recorder.flush();
  }
}

interface RegistrationContext {
  readonly csi: NodeCsi | undefined;
  readonly devices: NodeDevices;
  readonly startup: NodeStartup;
  readonly runtimeProblem: () => string | undefined;
}

function registrationOf(
  { config, client, runtime, clock, random, log, version: kubeletVersion, features = defaultFeatures }: KubeletOptions,
  { machine }: KubeletHost,
  { runtimeName, runtimeVersion: number }: RuntimeVersion,
  state: NodeState,
  { csi, devices, startup, runtimeProblem }: RegistrationContext,
): Registration {
  const { nodeName, nodeIps, taints, providerId, externalCloud: cloud, port } = config;
  const report = async (signal: AbortSignal): Promise<NodeReport> => {
    const status = await statusOf(runtime, signal);
    state.handlers = status?.handlers ?? state.handlers;
    const { capacity, allocatable, pressures, isShuttingDown } = state;
    const ofPlugins = devices.amounts();
    return {
      machine,
      capacity: { ...capacity, ...ofPlugins.capacity },
      allocatable: { ...allocatable, ...ofPlugins.allocatable },
      addresses:
        cloud === undefined
          ? nodeAddresses(nodeName, nodeIps)
          : addressesBeforeCloud(state.node, nodeName, cloud.providedIps),
      conditions: nodeConditions({
        runtime: status,
        runtimeProblem: runtimeProblem(),
        pressures,
        isShuttingDown,
      }),
      images: status === undefined ? [] : imageList(await runtime.images.list(signal), config.nodeStatus.maxImages),
      kubeletPort: port,
      runtimeVersion: `${runtimeName}://${number}`,
      kubeletVersion,
      runtimeHandlers: status?.handlers ?? [],
      features: status?.features,
      declaredFeatures: declaredFeatures(features) ?? [],
      swapBytes: machine.swapBytes,
      volumesInUse: csi?.inUse(),
    };
  };
  return new Registration({
    nodeName,
    client,
    clock,
    random,
    log,
    timing: config.nodeStatus,
    labels: nodeLabels(nodeName, machine.architecture, config.nodeLabels),
    taints: cloud === undefined ? taints : [...taints, UNINITIALIZED],
    annotations: providedIpAnnotation(cloud?.providedIps),
    providerId,
    onNode: (node) => {
      state.node = node;
      csi?.onNode(node);
      devices.onNode(node);
      if (isReady(node)) startup.ready();
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
  readonly imageMetrics: ImageMetrics;
  readonly images: NodeImages | undefined;
  readonly devices: NodeDevices;
  readonly manager: TopologyManager;
}

function podsOf(options: KubeletOptions, context: PodsContext): NodePods {
  const { config, client, runtime, clock, random, log, metrics, features = defaultFeatures } = options;
  const { host, version, state, recorder, tasks, registration, registered, imageMetrics: ofImages, devices } = context;
  const { nodeName, allowedUnsafeSysctls, staticPodPath: path, staticPodUrl: url } = config;
  // Others may have added extended resources to the Node. Those of device plugins are allocated in a step of their own.
  const allocatable = () => ({ ...devices.othersOf(state.node.status?.allocatable ?? {}), ...state.allocatable });
  return nodePods({
    nodeName,
    client,
    runtime: devices.runtime(runtime, version, host.isInUserNamespace),
    runtimeName: version.runtimeName,
    network: containerNetwork(),
    files: host.files,
    volumes: (objects, callsOf) => host.volumes(objects, state.facts, callsOf),
    devices: (objects, callsOf) => devices.ofPods(objects, callsOf),
    cgroups: host.cgroups,
    topology: podTopology(context.manager),
    idsPerPod: features.enabled("UserNamespacesSupport") ? config : undefined,
    facts: state.facts,
    admit: (pod, active) =>
      (state.isShuttingDown ? SHUTDOWN_REJECTION : undefined) ??
      pressureProblem(pod, state.pressures, qosClassOf(pod) === "BestEffort") ??
      admitPod(pod, Usage.of(active), {
        node: state.node,
        allocatable: allocatable(),
        allowedUnsafeSysctls,
        declaredFeatures: declaredFeatures(features),
      }),
    admitResize: (pod, active) => {
      const before = active.find(({ metadata }) => metadata.uid === pod.metadata.uid) ?? pod;
      const message = resizeProblem(before, pod, config.topology, qosClassOf(pod) === "Guaranteed");
      if (message !== undefined) return { fits: false, reason: "Infeasible", message };
      return admitResize(pod, Usage.of(active), allocatable());
    },
    crashBackoff: crashBackoffOf(config, features),
    manifests: path === undefined && url === undefined ? undefined : { path, url },
    node: () => registration.node,
    recorder,
    clock,
    random,
    log,
    tasks,
    metrics,
    imageMetrics: ofImages,
    images: context.images,
    tracer: options.tracer,
    registered,
  });
}

/** Undefined where the host, or its volumes, are given: tests have their own. */
async function csiOf(
  options: KubeletOptions & { readonly recorder: EventRecorder },
  { handlers }: NodeDevices,
  onChange: () => void,
): Promise<NodeCsi | undefined> {
  if (options.host !== undefined || options.csi !== undefined) return undefined;
  const { rootDir: root, nodeName } = options.config;
  return nodeCsi({ ...options, root, nodeName, onChange, plugins: handlers });
}

/** The Node exists before its status is kept up to date. */
function startRegistration(
  tasks: TaskGroup,
  registration: Registration,
  startup: NodeStartup,
  onRegistered: () => void,
): void {
  tasks.run("registration", async (signal) => {
    startup.registering();
    await registration.register(signal);
    startup.registered();
    onRegistered();
    tasks.run("node status", (running) => registration.runStatus(running));
    tasks.run("node lease", (running) => registration.runLease(running));
  });
}
