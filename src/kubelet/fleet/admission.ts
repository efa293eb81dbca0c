/** What a node takes: a Pod that fits beside those that it has, on its labels and free ports. Whoever set spec.nodeName may not have looked. */
import {
  addQuantities,
  compareQuantities,
  type core,
  parseQuantity,
  type Quantity,
  scaledValue,
  zeroQuantity,
} from "#api";
import { hostPorts, requestsOf, type Usage } from "../admission/usage.ts";

export interface Refusal {
  readonly reason: string;
  readonly message: string;
}

export interface Shortage {
  readonly resource: string;
  readonly requested: Quantity;
  readonly used: Quantity;
  readonly capacity: Quantity;
}

export type Amounts = Readonly<Record<string, string>>;

export function refusal(
  pod: core.Pod,
  usage: Usage,
  node: Pick<core.Node, "metadata" | "status">,
): Refusal | undefined {
  const isElsewhere = Object.entries(pod.spec?.nodeSelector ?? {}).some(
    ([name, value]) => node.metadata.labels?.[name] !== value,
  );
  if (isElsewhere) return failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
  if (hostPorts(pod).some((port) => usage.isTaken(port)))
    return failed("NodePorts", "node(s) didn't have free ports for the requested pod ports");
  const missing = shortage(pod, usage, node.status?.allocatable ?? {});
  return missing && { reason: `OutOf${missing.resource}`, message: shortageText(missing) };
}

function failed(predicate: string, why: string): Refusal {
  return { reason: predicate, message: `Predicate ${predicate} failed: ${why}` };
}

/** The first resource of which the node has too little beside what others use. */
export function shortage(pod: core.Pod, usage: Usage, allocatable: Amounts): Shortage | undefined {
  for (const [resource, requested] of Object.entries(requestsOf(pod))) {
    if (compareQuantities(requested, zeroQuantity) <= 0) continue;
    const used = usage.without(pod.metadata.uid ?? "", resource);
    const capacity = parseQuantity(allocatable[resource] ?? "0");
    if (compareQuantities(addQuantities(used, requested), capacity) > 0) return { resource, requested, used, capacity };
  }
  return undefined;
}

export function shortageText({ resource, requested, used, capacity }: Shortage): string {
  const shown = (amount: Quantity) => numberOf(resource, amount);
  const amounts = `requested: ${shown(requested)}, used: ${shown(used)}, capacity: ${shown(capacity)}`;
  return `Node didn't have enough resource: ${resource}, ${amounts}`;
}

/** Processors are counted in thousandths. */
export function numberOf(resource: string, amount: Quantity): bigint {
  return scaledValue(amount, resource === "cpu" ? -3 : 0);
}
