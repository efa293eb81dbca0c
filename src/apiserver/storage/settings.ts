/** How a server uses its store. What is absent has the default of Kubernetes. */
import type { StorageMediaType } from "./media-type-store.ts";

export interface StorageSettings {
  /** Of new values. Default: JSON, which needs no conversion here. */
  readonly mediaType?: StorageMediaType | undefined;
  /** How long the store may take to answer /healthz and /livez. */
  readonly healthTimeoutMs?: number | undefined;
  /** The same for /readyz. */
  readonly readyTimeoutMs?: number | undefined;
  /** How often objects are counted for metrics. 0: never. */
  readonly countPeriodMs?: number | undefined;
  /** How often the size of the store is read for metrics. 0: never. */
  readonly sizeIntervalMs?: number | undefined;
  /** How long a state can be listed after it has changed. 0: as long as the store has it. */
  readonly listWindowMs?: number | undefined;
  /** How many objects of a collection are deleted at a time. */
  readonly deleteWorkers?: number | undefined;
  /** False: propagation policies add no finalizers, because no garbage collector would remove them. */
  readonly garbageCollection?: boolean | undefined;
}
