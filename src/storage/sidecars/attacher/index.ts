/** What external-attacher does for a driver: attaches volumes to nodes. */
import type { Controller } from "#controllers";
import { DriverAccess } from "../calls/driver-access.ts";
import type { DriverControllers } from "../driver-controllers.ts";
import { attachments } from "./attachments.ts";
import { attachedVolumeProtection } from "./volumes.ts";

export interface AttacherOptions {
  readonly drivers: DriverControllers;
  /** `--timeout`. Default: 15 s. */
  readonly timeoutMs?: number | undefined;
  /** `--worker-threads`. Default: 10. */
  readonly workers?: number | undefined;
  /** `--reconcile-sync`. Default: 1 minute. */
  readonly compareMs?: number | undefined;
}

export const ATTACHER_ACCOUNT = "csi-attacher";

export function attacher(options: AttacherOptions): readonly Controller[] {
  const { drivers, timeoutMs = 15_000, workers = 10, compareMs = 60_000 } = options;
  const access = new DriverAccess(drivers, timeoutMs);
  return [
    attachments({ access, account: ATTACHER_ACCOUNT, concurrency: workers, compareMs }),
    attachedVolumeProtection(drivers.driverName, ATTACHER_ACCOUNT),
  ];
}
