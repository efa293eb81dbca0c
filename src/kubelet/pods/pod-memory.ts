/**
 * What a worker remembers of its Pod between syncs. A restarted kubelet starts without it: backoffs start over, the
 * rest is read again.
 */
import type { core } from "#api";
import type { Allocation, ResizeState } from "../admission/index.ts";
import type { CrashBackoff } from "../lifecycle/index.ts";

export interface PodMemory {
  backoffs: ReadonlyMap<string, CrashBackoff>;
  /** Waiting states of containers that could not be started, by name. */
  readonly failedStarts: Map<string, core.ContainerStateWaiting>;
  previous: core.PodStatus | undefined;
  /** Undefined before the first sync. */
  allocation: Allocation | undefined;
  /** Applied resources by container id, if they differ from those that the container was created with. */
  readonly applied: Map<string, core.ResourceRequirements>;
  resize: ResizeState;
}

export const newMemory = (): PodMemory => ({
  backoffs: new Map(),
  failedStarts: new Map(),
  previous: undefined,
  allocation: undefined,
  applied: new Map(),
  resize: {},
});
