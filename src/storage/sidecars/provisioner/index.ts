/** What external-provisioner does for a driver: makes and deletes volumes. */
import type { Controller } from "#controllers";
import { DriverAccess } from "../calls/driver-access.ts";
import type { DriverControllers } from "../driver-controllers.ts";
import { claimProvisioner } from "./claims.ts";
import { cloneProtection } from "./clones.ts";
import { DEFAULT_SETTINGS, type ProvisionerSettings } from "./request.ts";
import { volumeDeletion } from "./volumes.ts";

export { DEFAULT_SETTINGS, type ProvisionerSettings } from "./request.ts";

export interface ProvisionerOptions {
  readonly drivers: DriverControllers;
  readonly settings?: Partial<ProvisionerSettings> | undefined;
  /** `--timeout`. Default: 10 s. */
  readonly timeoutMs?: number | undefined;
  /** `--worker-threads`. Default: 100. */
  readonly workers?: number | undefined;
}

export const PROVISIONER_ACCOUNT = "csi-provisioner";

export function provisioner({
  drivers,
  settings = {},
  timeoutMs = 10_000,
  workers = 100,
}: ProvisionerOptions): readonly Controller[] {
  const access = new DriverAccess(drivers, timeoutMs);
  const shared = { access, account: PROVISIONER_ACCOUNT, concurrency: workers };
  return [
    claimProvisioner({ ...shared, settings: { ...DEFAULT_SETTINGS, ...settings } }),
    cloneProtection(PROVISIONER_ACCOUNT),
    volumeDeletion(shared),
  ];
}
