/**
 * What a node sees of a Pod: the newest instance of each container and the one before it, what its probes say, and what is true of the sandbox.
 *
 * 1. A container that has no instance yet, or none any more, has no `current`: the status before tells what was known of it.
 * 2. Times are milliseconds since the epoch.
 */
import type { core } from "#api";
import type { PodFailure } from "../lifecycle/index.ts";

export interface ContainerInstance {
  /** With the name of its runtime before it: `containerd://…`. */
  readonly id: string;
  readonly state: "created" | "running" | "exited" | "unknown";
  readonly image: string;
  readonly imageID: string;
  /** How many instances came before it. */
  readonly restartCount: number;
  readonly startedAtMs?: number | undefined;
  readonly finishedAtMs?: number | undefined;
  readonly exitCode?: number | undefined;
  readonly signal?: number | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** What is in force for it. Default: what its container asks for. */
  readonly resources?: core.ResourceRequirements | undefined;
  readonly user?: core.ContainerUser | undefined;
}

export interface ObservedContainer {
  readonly current?: ContainerInstance | undefined;
  readonly last?: ContainerInstance | undefined;
  /** Why it is not running although it should be: CrashLoopBackOff, ErrImagePull, … */
  readonly waiting?: core.ContainerStateWaiting | undefined;
  /** Whether its startup probe has passed. Default: it has none. */
  readonly started?: boolean | undefined;
  /** Whether its readiness probe passes. Default: it has none. */
  readonly ready?: boolean | undefined;
}

export interface ObservedPod {
  /** By the name of the container, init and ephemeral ones included. */
  readonly containers: ReadonlyMap<string, ObservedContainer>;
  /** The sandbox exists and has its network. */
  readonly sandboxReady: boolean;
  /** The node's addresses, the preferred family first. */
  readonly hostIPs: readonly string[];
  /** The sandbox's addresses. A Pod on the node's network has the node's without saying so. */
  readonly podIPs: readonly string[];
  /** Whether the runtime can make mounts read-only to their depth. Default: it cannot. */
  readonly recursiveReadOnlyMounts?: boolean | undefined;
  /** Nothing of it will be started again, whatever its restart policy says: it is being deleted, or was stopped by its node. */
  readonly isOver?: boolean | undefined;
  /** Its node has failed it: past its deadline, evicted, … */
  readonly failure?: PodFailure | undefined;
  /** Conditions that the node itself has to tell beyond those that follow from the containers: DisruptionTarget, PodResizePending, … */
  readonly conditions?: readonly core.PodCondition[] | undefined;
  /** What was reported last. Default: the Pod's own status. */
  readonly previous?: core.PodStatus | undefined;
}
