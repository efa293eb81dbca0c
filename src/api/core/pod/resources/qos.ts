/** The QoS class of a pod, computed once when the pod is created. */
import { compareQuantities, parseQuantity, type Quantity, zeroQuantity } from "../../../machinery/scalars/quantity.ts";
import type { Pod, PodSpec } from "../../../types/core-v1.ts";
import { addTotals, type Totals } from "./container-totals.ts";

type QosClass = "BestEffort" | "Burstable" | "Guaranteed";

const counted = ["cpu", "memory"] as const;

export function qosClassOf(pod: Pod): QosClass {
  return pod.status?.qosClass ?? computeQosClass(pod.spec);
}

/**
 * Guaranteed: every container has limits, and requests equal to them. Pod-level resources replace those of the
 * containers.
 */
export function computeQosClass(spec: PodSpec | undefined): QosClass {
  const own = spec?.resources;
  const parts =
    own !== undefined
      ? [own]
      : [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ resources }) => resources ?? {});
  const requests: Totals = {};
  const limits: Totals = {};
  let allLimited = true;
  for (const part of parts) {
    addTotals(requests, positiveAmounts(part.requests));
    const limited = positiveAmounts(part.limits);
    addTotals(limits, limited);
    if (counted.some((name) => limited[name] === undefined)) allLimited = false;
  }
  if (Object.keys(requests).length === 0 && Object.keys(limits).length === 0) return "BestEffort";
  const asked = Object.entries(requests);
  const same = asked.every(([name, amount]) => isEqual(amount, limits[name]));
  return allLimited && same && asked.length === Object.keys(limits).length ? "Guaranteed" : "Burstable";
}

function positiveAmounts(amounts: Readonly<Record<string, string>> | undefined): Totals {
  const result: Totals = {};
  for (const name of counted) {
    const amount = amounts?.[name] === undefined ? zeroQuantity : parseQuantity(amounts[name]);
    if (compareQuantities(amount, zeroQuantity) > 0) result[name] = amount;
  }
  return result;
}

function isEqual(a: Quantity, b: Quantity | undefined): boolean {
  return b !== undefined && compareQuantities(a, b) === 0;
}
