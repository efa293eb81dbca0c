/**
 * What the feature gates of dynamic resource allocation switch off in the scheduler. Objects may still have the fields
 * of a feature that is off: they were stored while it was on.
 *
 *     asked for by a claim, off     no node helps: the Pod says which feature is missing
 *     said by a device, off         the device is not allocated if it cannot be without the feature (counters, a choice
 *                                   of its own nodes), else what it says does not count (taints, sharing, conditions)
 */
import { claimText } from "./pod-claims.ts";
import type { WantedClaim } from "./requests.ts";

const GATES = {
  adminAccess: "DRAAdminAccess",
  prioritizedList: "DRAPrioritizedList",
  partitionableDevices: "DRAPartitionableDevices",
  consumableCapacity: "DRAConsumableCapacity",
  deviceTaints: "DRADeviceTaints",
  deviceTaintRules: "DRADeviceTaintRules",
  bindingConditions: "DRADeviceBindingConditions",
  extendedResources: "DRAExtendedResource",
  filterTimeout: "DRASchedulerFilterTimeout",
} as const;

export type DeviceFeatures = Readonly<Record<keyof typeof GATES, boolean>>;

export function deviceFeatures(enabled: (gate: string) => boolean): DeviceFeatures {
  const found = Object.entries(GATES).map(([name, gate]) => [name, enabled(gate)]);
  return Object.fromEntries(found) as DeviceFeatures;
}

export const ALL_DEVICE_FEATURES: DeviceFeatures = deviceFeatures(() => true);

/** What the claim asks for although it is off, in the words of kube-scheduler. */
export function missingFeature(
  { claim, requests, constraints }: WantedClaim,
  features: DeviceFeatures,
): string | undefined {
  for (const { name, options, isPrioritized } of requests) {
    for (const wanted of options) {
      if (wanted.adminAccess && !features.adminAccess)
        return `claim ${claimText(claim)}, request ${name}: admin access is requested, but the feature is disabled`;
      if (wanted.capacity === undefined || features.consumableCapacity) continue;
      const where = isPrioritized ? `subrequest ${wanted.alternative}` : `request ${name}`;
      return `claim ${claimText(claim)}, ${where}: has capacity requests, but the DRAConsumableCapacity feature is disabled`;
    }
  }
  const distinct = constraints.findIndex(({ distinctAttribute }) => distinctAttribute !== undefined);
  if (distinct < 0 || features.consumableCapacity) return undefined;
  return `claim ${claimText(claim)}, constraint #${distinct}: empty constraint (unsupported constraint type?)`;
}
