/**
 * The sum of the resources of a pod's containers: containers and sidecars run side by side; each init container runs
 * alone with the sidecars that started before it, so that only the largest of them counts.
 */
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "../../../machinery/scalars/quantity.ts";
import type { Container, PodSpec } from "../../../types/core-v1.ts";

export type Totals = Record<string, Quantity>;

export function isSidecar(container: Pick<Container, "restartPolicy">): boolean {
  return container.restartPolicy === "Always";
}

export function containerTotals(
  spec: Pick<PodSpec, "containers" | "initContainers">,
  side: "limits" | "requests",
): Totals {
  const total: Totals = {};
  for (const container of spec.containers ?? []) addTotals(total, amountsOf(container, side));
  const sidecars: Totals = {};
  const largest: Totals = {};
  for (const container of spec.initContainers ?? []) {
    const amounts = amountsOf(container, side);
    if (isSidecar(container)) {
      addTotals(total, amounts);
      addTotals(sidecars, amounts);
      raise(largest, sidecars);
    } else {
      const alone = { ...sidecars };
      addTotals(alone, amounts);
      raise(largest, alone);
    }
  }
  raise(total, largest);
  return total;
}

export function amountsOf({ resources }: Pick<Container, "resources">, side: "limits" | "requests"): Totals {
  return Object.fromEntries(
    Object.entries(resources?.[side] ?? {}).map(([name, amount]) => [name, parseQuantity(amount)]),
  );
}

export function addTotals(total: Totals, amounts: Totals): void {
  for (const [name, amount] of Object.entries(amounts)) {
    const before = total[name];
    total[name] = before === undefined ? amount : addQuantities(before, amount);
  }
}

function raise(total: Totals, amounts: Totals): void {
  for (const [name, amount] of Object.entries(amounts)) {
    const before = total[name];
    if (before === undefined || compareQuantities(amount, before) > 0) total[name] = amount;
  }
}
