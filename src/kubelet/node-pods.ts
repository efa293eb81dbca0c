/**
 * Assembles what runs Pods on a node: sources, workers, probes, and their parts.
 *
 *     API --► ┐                  ┌─► runtime ··· Pleg ──► poke
 *     files ─►├─ PodWorkers ─────┼─► volumes, cgroups, files
 *     URL ───►┘      │           └─► Prober ──► poke
 *                    └─► StatusWriter ══► API
 */
import { type core, kinds } from "#api";
import { abortable, type Clock, type Logger, MetricsRegistry, type Random, type TaskGroup } from "#base";
import { type Client, type EventRecorder, Informer } from "#client";
import type { ResizeVerdict } from "./admission/index.ts";
import type { NodeFacts } from "./containers/index.ts";
import { type PodDevices, withoutDrivers } from "./devices/index.ts";
import type { PodCgroups, PodFiles } from "./host/index.ts";
import { type ImageMetrics, imageMetrics, imagePuller } from "./images/index.ts";
import type { PodFailure } from "./lifecycle/index.ts";
import type { NodeImages } from "./node-images.ts";
import { type PodObjects, podEvents, podObjects } from "./objects/index.ts";
import { Pleg, plegMetrics } from "./pleg/index.ts";
import {
  CONFIG_HASH,
  CONFIG_MIRROR,
  countPods,
  isMirror,
  Orphans,
  type PodParts,
  type PodTopology,
  PodWorkers,
  podMetrics,
  StatusWriter,
  staticPods,
  UserNamespaces,
} from "./pods/index.ts";
import { type ContainerNetwork, lifecycleHooks, probeMetrics, prober } from "./probes/index.ts";
import { type PodCalls, RuntimeCalls } from "./runtime/recorded.ts";
import type { Runtime } from "./runtime/runtime.ts";
import type { PodVolumes } from "./volumes/index.ts";

export interface NodePodsOptions {
  readonly nodeName: string;
  readonly client: Client;
  readonly runtime: Runtime;
  readonly runtimeName: string;
  readonly network: ContainerNetwork;
  readonly files: PodFiles;
  /** A function, because volumes read objects that are watched here. */
  readonly volumes: (objects: PodObjects, callsOf: (podUid: string) => PodCalls) => PodVolumes;
  /** Default: the node has no drivers of devices. */
  readonly devices?: ((objects: PodObjects, callsOf: (podUid: string) => PodCalls) => PodDevices) | undefined;
  readonly cgroups: PodCgroups;
  readonly topology?: PodTopology | undefined;
  /** Default: the node has no user namespaces. */
  readonly idsPerPod?: { readonly idsPerPod: number; readonly maxPods: number } | undefined;
  readonly facts: () => NodeFacts;
  readonly admit: (pod: core.Pod, active: readonly core.Pod[]) => PodFailure | undefined;
  readonly admitResize: (pod: core.Pod, active: readonly core.Pod[]) => ResizeVerdict;
  readonly crashBackoff?: PodParts["crashBackoff"];
  /** The manifests of static Pods. */
  readonly manifests?: { readonly path?: string | undefined; readonly url?: string | undefined } | undefined;
  /** The owner of mirror Pods. */
  readonly node: () => core.Node | undefined;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly tasks: TaskGroup;
  /** Default: nobody looks at them. */
  readonly metrics?: MetricsRegistry | undefined;
  readonly imageMetrics?: ImageMetrics | undefined;
  /** Default: no credentials of the node, and no limits. */
  readonly images?: NodeImages | undefined;
  readonly tracer?: PodParts["tracer"];
  /** Pods of the API are admitted only from then on: admission needs the Node's labels. */
  readonly registered: Promise<void>;
}

export interface NodePods {
  readonly workers: PodWorkers;
  readonly status: StatusWriter;
  readonly pleg: Pleg;
  readonly parts: PodParts;
  /** The Pods of this node in the API. */
  readonly api: Informer<core.Pod>;
}

export function nodePods(options: NodePodsOptions): NodePods {
  const { nodeName, client, clock, random, log, tasks, metrics = new MetricsRegistry() } = options;
  const ofImages = options.imageMetrics ?? imageMetrics(metrics);
  const ofPods = podMetrics(metrics, clock);
  const calls = new RuntimeCalls(clock);
  const runtime = calls.recording(options.runtime);
  const api = new Informer<core.Pod>({
    client: client.of(kinds.Pod),
    selectors: { fieldSelector: `spec.nodeName=${nodeName}` },
    clock,
    random,
    log,
  });
  const objects = podObjects({ client, clock, random, log, tasks, onChange: (uid) => workers.poke(uid) });
  const events = podEvents(options.recorder);
  const onVerdict = (uid: string, kind: string, verdict: string) => {
    calls.found(uid, "probe", kind, verdict === "success" ? undefined : verdict);
    workers.poke(uid);
  };
  const means = { runtime, network: options.network, clock };
  const parts: PodParts = {
    runtime,
    runtimeName: options.runtimeName,
    facts: options.facts,
    files: options.files,
    volumes: calls.mounting(options.volumes(objects, (uid) => calls.of(uid))),
    devices: options.devices?.(objects, (uid) => calls.of(uid)) ?? withoutDrivers(objects),
    cgroups: options.cgroups,
    topology: options.topology,
    users:
      options.idsPerPod === undefined ? undefined : new UserNamespaces({ ...options.idsPerPod, files: options.files }),
    images: imagePuller({ ...options.images, runtime, objects, events, clock, metrics: ofImages }),
    probes: prober({
      ...means,
      events,
      random,
      tasks,
      metrics: probeMetrics(metrics),
      onVerdict,
    }),
    hooks: lifecycleHooks(means),
    objects,
    events,
    metrics: ofPods,
    imageVolumes: ofImages,
    admitResize: (pod) => options.admitResize(pod, workers.active()),
    crashBackoff: options.crashBackoff,
    stopping: tasks.signal,
    clock,
    log,
    tracer: options.tracer,
  };
  const targetOf = ({ metadata }: core.Pod) => {
    const found = api.cache.get(`${metadata.namespace}/${metadata.name}`);
    if (found === undefined || found.metadata.uid === metadata.uid) return found;
    const hash = metadata.annotations?.[CONFIG_HASH];
    return hash !== undefined && found.metadata.annotations?.[CONFIG_MIRROR] === hash ? found : undefined;
  };
  const status = new StatusWriter({
    client,
    nodeName,
    calls,
    clock,
    random,
    log,
    targetOf,
    onWritten: (seconds) => ofPods.statusWritten(seconds),
  });
  const workers = new PodWorkers({
    parts,
    status,
    random,
    tasks,
    admit: options.admit,
    onPod: (pod) => objects.refer(pod),
    onGone: (uid) => {
      objects.release(uid);
      statics.gone();
    },
  });
  const statics = staticPods({ ...options, workers, mirrors: () => api.cache.list().filter(isMirror) });
  const orphans = new Orphans(parts, (uid) => workers.has(uid));
  const pleg = new Pleg({
    runtime,
    clock,
    random,
    log,
    onPod: (uid) => workers.poke(uid),
    observer: plegMetrics(metrics),
    onBack: () => {
      for (const worker of workers.list()) worker.retry();
    },
    onListed: (uids) => {
      if (api.hasSynced && statics.hasRead()) orphans.sweepRuntime(uids, tasks.signal);
    },
  });

  countPods(metrics, { workers, mirrors: () => api.cache.list().filter(isMirror) });
  api.onChange(({ type, object }) => {
    if (isMirror(object)) {
      statics.check();
      status.check(object.metadata.annotations?.[CONFIG_MIRROR] ?? "");
    } else if (type === "deleted") workers.remove(object.metadata.uid ?? "");
    else {
      workers.set(object);
      status.check(object.metadata.uid ?? "");
    }
  });
  tasks.run("services", (signal) => objects.run(signal));
  tasks.run("status writer", (signal) => status.run(signal));
  tasks.run("pods of the API", async (signal) => {
    await abortable(options.registered, signal);
    await api.run(signal);
  });
  tasks.run("pleg", (signal) => pleg.run(signal));
  tasks.run("static pods", (signal) => statics.run(signal));
  tasks.run("mirror pods", async (signal) => {
    await abortable(api.synced, signal);
    await statics.runMirrors(signal);
  });
  tasks.run("orphans", async (signal) => {
    await abortable(api.synced, signal);
    await orphans.run(signal);
  });
  return { workers, status, pleg, parts, api };
}
