/**
 * The devices that a container may have because init containers before it have ended by then. Pure.
 *
 * 1. An init container that ends leaves its devices to those after it; the first that runs on keeps what it takes.
 */
import type { core } from "#api";
import { isSidecar } from "../lifecycle/index.ts";

export function reusableDevices(
  { spec }: core.Pod,
  container: string,
  devicesOf: (container: string) => readonly string[],
): ReadonlySet<string> {
  const { initContainers = [], containers = [] } = spec ?? {};
  const reusable = new Set<string>();
  for (const each of [...initContainers, ...containers]) {
    if (each.name === container) break;
    const ends = initContainers.includes(each) && !isSidecar(each);
    for (const id of devicesOf(each.name)) {
      if (ends) reusable.add(id);
      else reusable.delete(id);
    }
  }
  return reusable;
}
