/**
 * The dead containers and sandboxes of a Pod that can be removed. Of each container the two newest instances stay, for
 * logs and lastState.
 */
import { nameOf } from "../containers/index.ts";
import type { ContainerStatus } from "../runtime/runtime.ts";
import type { RuntimePod } from "./runtime-pod.ts";

export interface Dead {
  readonly containers: readonly ContainerStatus[];
  readonly sandboxIds: readonly string[];
}

const KEPT = 2;

export function deadOf({ sandboxes, containers }: RuntimePod): Dead {
  const seen = new Map<string, number>();
  const old = containers.filter((container) => {
    const name = nameOf(container);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count > KEPT && container.state !== "running";
  });
  const gone = new Set(old.map(({ id }) => id));
  const inUse = new Set(containers.filter(({ id }) => !gone.has(id)).map(({ podSandboxId }) => podSandboxId));
  const [, ...older] = sandboxes;
  return {
    containers: old,
    sandboxIds: older.filter(({ id, state }) => state !== "ready" && !inUse.has(id)).map(({ id }) => id),
  };
}
