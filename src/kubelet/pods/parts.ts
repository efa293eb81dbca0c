/** The interfaces between the core that runs Pods and everything that does I/O. */
import type { core } from "#api";
import type { Clock, Logger } from "#base";
import type { Tracer } from "#tracing";
import type { ResizeVerdict } from "../admission/index.ts";
import type { CpuPlacement, NodeFacts } from "../containers/index.ts";
import type { PodDevices } from "../devices/index.ts";
import type { PodCgroups, PodFiles } from "../host/index.ts";
import type { ImageMetrics, ImagePuller } from "../images/index.ts";
import type { CrashBackoffLimits, PodFailure } from "../lifecycle/index.ts";
import type { PodEvents, PodObjects } from "../objects/index.ts";
import type { LifecycleHooks, PodProbes } from "../probes/index.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { PodVolumes } from "../volumes/index.ts";
import type { PodMetrics } from "./pod-metrics.ts";
import type { UserNamespaces } from "./user-namespaces.ts";

/** Whether a Pod's new resources fit beside the other Pods. */
export type AdmitResize = (pod: core.Pod) => ResizeVerdict;

/** CPUs, memory and devices that are handed out together, before a Pod starts. */
export interface PodTopology {
  /** Why the node rejects the Pod; undefined if it has what it asks for. */
  admit(pod: core.Pod): Promise<PodFailure | undefined>;
  release(podUid: string): Promise<void>;
  placementOf(pod: core.Pod, container: string): CpuPlacement;
  hasExclusiveCpus(podUid: string): boolean;
}

export interface PodParts {
  readonly runtime: Runtime;
  /** The prefix of container ids: `containerd`. */
  readonly runtimeName: string;
  readonly facts: () => NodeFacts;
  readonly files: PodFiles;
  readonly volumes: PodVolumes;
  readonly devices: PodDevices;
  /** Undefined: the node has none. */
  readonly users?: UserNamespaces | undefined;
  /** Undefined: nothing is handed out. */
  readonly topology?: PodTopology | undefined;
  readonly cgroups: PodCgroups;
  readonly images: ImagePuller;
  readonly probes: PodProbes;
  readonly hooks: LifecycleHooks;
  readonly objects: PodObjects;
  readonly events: PodEvents;
  readonly metrics: PodMetrics;
  readonly imageVolumes: Pick<ImageMetrics, "volumeRequested" | "volumeMounted">;
  readonly admitResize: AdmitResize;
  /** Default: those of v1.36. */
  readonly crashBackoff?: CrashBackoffLimits | undefined;
  /** Aborts when the kubelet stops. */
  readonly stopping: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}
