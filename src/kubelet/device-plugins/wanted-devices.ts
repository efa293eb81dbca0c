/** What containers and Pods want of device plugins. Pure. */
import { type core, parseQuantity, scaledValue } from "#api";
import { isSidecar } from "../lifecycle/index.ts";

/** By resource, as far as no ResourceClaim stands for it. */
export function wantedDevices(
  { status }: core.Pod,
  { name, resources }: core.Container,
  isOfPlugin: (resource: string) => boolean,
): ReadonlyMap<string, number> {
  const claimed = status?.extendedResourceClaimStatus?.requestMappings ?? [];
  const wanted = new Map<string, number>();
  for (const [resource, amount] of Object.entries(resources?.limits ?? {})) {
    if (claimed.some((each) => each.containerName === name && each.resourceName === resource)) continue;
    const count = isOfPlugin(resource) ? Number(scaledValue(parseQuantity(amount), 0)) : 0;
    if (count > 0) wanted.set(resource, count);
  }
  return wanted;
}

/** The most that the Pod has at once: init containers that end leave their devices to those after them. */
export function wantedByPod(pod: core.Pod, isOfPlugin: (resource: string) => boolean): ReadonlyMap<string, number> {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const kept = new Map<string, number>();
  const most = new Map<string, number>();
  const raise = (resource: string, count: number) => most.set(resource, Math.max(most.get(resource) ?? 0, count));
  for (const container of [...initContainers, ...containers]) {
    const ends = initContainers.includes(container) && !isSidecar(container);
    for (const [resource, count] of wantedDevices(pod, container, isOfPlugin)) {
      raise(resource, (kept.get(resource) ?? 0) + count);
      if (!ends) kept.set(resource, (kept.get(resource) ?? 0) + count);
    }
  }
  return most;
}
