/**
 * The observed state of a Pod: the newest instance of each container and the one before it, probe results, and the
 * sandbox.
 *
 * 1. A container without an instance has no `current`: its previous status says what was known of it.
 * 2. Times are milliseconds since the epoch.
 */
import type { core } from "#api";
import type { PodFailure } from "../lifecycle/index.ts";

export interface ContainerInstance {
  /** With the name of the runtime: `containerd://…`. */
  readonly id: string;
  readonly state: "created" | "running" | "exited" | "unknown";
  readonly image: string;
  readonly imageID: string;
  /** How many instances existed before it. */
  readonly restartCount: number;
  readonly startedAtMs?: number | undefined;
  readonly finishedAtMs?: number | undefined;
  readonly exitCode?: number | undefined;
  readonly signal?: number | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** The resources that are applied. Default: those of the container's spec. */
  readonly resources?: core.ResourceRequirements | undefined;
  readonly user?: core.ContainerUser | undefined;
}

export interface ObservedContainer {
  readonly current?: ContainerInstance | undefined;
  readonly last?: ContainerInstance | undefined;
  /** Why it is not running although it should be: CrashLoopBackOff, ErrImagePull, … */
  readonly waiting?: core.ContainerStateWaiting | undefined;
  /** Whether its startup probe has passed. Default: true. */
  readonly started?: boolean | undefined;
  /** Whether its readiness probe passes. Default: true. */
  readonly ready?: boolean | undefined;
}

export interface ObservedPod {
  /** By container name, including init and ephemeral containers. */
  readonly containers: ReadonlyMap<string, ObservedContainer>;
  /** The sandbox exists and has its network. */
  readonly sandboxReady: boolean;
  /** The node's addresses, the preferred family first. */
  readonly hostIPs: readonly string[];
  /** The sandbox's addresses. Ignored for a Pod on the host network. */
  readonly podIPs: readonly string[];
  /** Whether the runtime supports recursive read-only mounts. Default: false. */
  readonly recursiveReadOnlyMounts?: boolean | undefined;
  /** No container will be restarted, whatever the restart policy: the Pod is being deleted or stopped by its node. */
  readonly isOver?: boolean | undefined;
  /** Why the node fails the Pod: past its deadline, evicted, … */
  readonly failure?: PodFailure | undefined;
  /** Conditions that do not follow from the containers: DisruptionTarget, PodResizePending, … */
  readonly conditions?: readonly core.PodCondition[] | undefined;
  /** How the devices of containers are, by container. Default: they have none. */
  readonly devices?: ReadonlyMap<string, readonly core.ResourceStatus[]> | undefined;
  /** What was reported last. Default: the Pod's own status. */
  readonly previous?: core.PodStatus | undefined;
}
