/** How a snapshotter runs, with the flags of csi-snapshotter. */
import type { DriverControllers } from "../../sidecars/driver-controllers.ts";
import type { RetryOptions } from "./retries.ts";

export interface SnapshotterOptions {
  readonly controllers: DriverControllers;
  /** --timeout of a call. Default: 1 minute. */
  readonly timeoutMs?: number | undefined;
  readonly retries?: RetryOptions | undefined;
  /** --snapshot-name-prefix. Default: snapshot. */
  readonly namePrefix?: string | undefined;
  /** --groupsnapshot-name-prefix. Default: groupsnapshot. */
  readonly groupNamePrefix?: string | undefined;
  /** --extra-create-metadata: the driver gets the names of the objects. */
  readonly extraCreateMetadata?: boolean | undefined;
  /** --node-deployment: only what is on this node. */
  readonly onlyNode?: string | undefined;
}

export const TIMEOUT_MS = 60_000;
