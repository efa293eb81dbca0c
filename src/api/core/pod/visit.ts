/** The containers of a pod, of all three sorts, with where they are: init containers first, as they run. */
import type { FieldPath } from "../../machinery/field-error.ts";
import type { Container, EphemeralContainer, PodSpec } from "../../types/core-v1.ts";

export interface PlacedContainer {
  readonly container: Container | EphemeralContainer;
  readonly path: FieldPath;
}

export function placedContainers(spec: PodSpec, at: FieldPath): readonly PlacedContainer[] {
  return (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, i) => ({ container, path: at.child(list).index(i) })),
  );
}

export function allContainers(spec: PodSpec): readonly (Container | EphemeralContainer)[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}
