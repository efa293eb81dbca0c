/**
 * Usage of ResourceClaims: their number, and for each device class the largest number of devices that they can be
 * allocated.
 */
import { addQuantities, quantityOf } from "../../machinery/scalars/quantity.ts";
import type { DeviceRequest, ResourceClaim } from "../../types/resource-v1.ts";
import type { Totals } from "../pod/resources/container-totals.ts";
import { countName, type QuotaEvaluator } from "./evaluator.ts";

const COUNT = countName("resource.k8s.io", "resourceclaims");
const OF_CLASS = ".deviceclass.resource.k8s.io/devices";
/** The largest number of devices that one claim can be allocated. */
const ALL_DEVICES = 32;

export const resourceClaimQuota: QuotaEvaluator = {
  group: "resource.k8s.io",
  plural: "resourceclaims",
  handles: ({ operation, subresource }) => operation === "CREATE" && subresource === "",
  matching: (names) => names.filter((name) => name === COUNT || name.endsWith(OF_CLASS)),
  matchesScope: () => false,
  usage: (object) => usage(object as ResourceClaim),
};

function usage({ spec }: ResourceClaim): Totals {
  const result: Totals = { [COUNT]: quantityOf(1) };
  for (const request of spec.devices?.requests ?? []) {
    for (const [name, devices] of mostOf(request)) {
      const before = result[name];
      const amount = quantityOf(devices);
      result[name] = before === undefined ? amount : addQuantities(before, amount);
    }
  }
  return result;
}

/** For alternatives, the maximum for each class. */
function mostOf({ exactly, firstAvailable = [] }: DeviceRequest): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  for (const { deviceClassName, allocationMode, count } of [
    ...(exactly === undefined ? [] : [exactly]),
    ...firstAvailable,
  ]) {
    const devices = allocationMode === "All" ? ALL_DEVICES : Number(count ?? 1);
    const name = deviceClassName + OF_CLASS;
    most.set(name, Math.max(most.get(name) ?? 0, devices));
  }
  return most;
}
