/** What a worker remembers of its Pod between passes. All of it may be lost: then backoffs begin anew, and what is in force is looked up. */
import type { core } from "#api";
import type { Allocation, ResizeState } from "../admission/index.ts";
import type { CrashBackoff } from "../lifecycle/index.ts";

export interface PodMemory {
  backoffs: ReadonlyMap<string, CrashBackoff>;
  /** Why containers could not be started, by name. */
  readonly failedStarts: Map<string, core.ContainerStateWaiting>;
  previous: core.PodStatus | undefined;
  /** What the node has given the Pod; undefined before the first pass. */
  allocation: Allocation | undefined;
  /** What is in force, by container id, where it is not what the container was made with. */
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
