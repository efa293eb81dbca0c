/** All containers of a pod with their paths: init containers first, then containers, then ephemeral containers. */
import type { FieldPath } from "../../../machinery/errors/field-error.ts";
import type { Container, EphemeralContainer, PodSpec } from "../../../types/core-v1.ts";

export interface PlacedContainer {
  readonly container: Container | EphemeralContainer;
  readonly path: FieldPath;
}

const LISTS = ["initContainers", "containers", "ephemeralContainers"] as const;

export function placedContainers(spec: PodSpec, at: FieldPath): readonly PlacedContainer[] {
  const placed: PlacedContainer[] = [];
  for (const list of LISTS) {
    const containers = spec[list] ?? [];
    if (containers.length === 0) continue;
    const path = at.child(list);
    for (const [i, container] of containers.entries()) placed.push({ container, path: path.index(i) });
  }
  return placed;
}

export function allContainers(spec: PodSpec): readonly (Container | EphemeralContainer)[] {
  const { initContainers, containers, ephemeralContainers } = spec;
  if (!initContainers && !ephemeralContainers) return containers ?? [];
  return [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])];
}
