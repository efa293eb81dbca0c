/** Which of a Pod's dead containers and sandboxes are of no use any more: the last one before the newest is kept, for its log and its last state. */
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
