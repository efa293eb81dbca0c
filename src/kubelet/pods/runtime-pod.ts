/** The sandboxes and containers of one Pod in the runtime, newest first. */
import { attemptOf, nameOf, POD_UID } from "../containers/index.ts";
import type { ContainerStatus, PodSandboxStatus, Runtime } from "../runtime/runtime.ts";

export interface RuntimePod {
  readonly uid: string;
  readonly sandboxes: readonly PodSandboxStatus[];
  readonly containers: readonly ContainerStatus[];
}

export const nothingThere = (uid: string): RuntimePod => ({ uid, sandboxes: [], containers: [] });

export async function lookAtPod(
  runtime: Pick<Runtime, "listPodSandboxes" | "podSandboxStatus" | "listContainers" | "containerStatus">,
  uid: string,
  signal: AbortSignal,
): Promise<RuntimePod> {
  const filter = { labels: { [POD_UID]: uid } };
  const [sandboxes, containers] = await Promise.all([
    runtime.listPodSandboxes(filter, signal),
    runtime.listContainers(filter, signal),
  ]);
  const [sandboxStatuses, containerStatuses] = await Promise.all([
    Promise.all(sandboxes.map(({ id }) => runtime.podSandboxStatus(id, signal))),
    Promise.all(containers.map(({ id }) => runtime.containerStatus(id, signal))),
  ]);
  return {
    uid,
    sandboxes: sandboxStatuses
      .filter((status) => status !== undefined)
      .sort((a, b) => b.metadata.attempt - a.metadata.attempt || b.createdAtMs - a.createdAtMs),
    containers: containerStatuses
      .filter((status) => status !== undefined)
      .sort((a, b) => attemptOf(b) - attemptOf(a) || b.createdAtMs - a.createdAtMs),
  };
}

/** The names of the containers that run; undefined unless the Pod's sandbox is there. */
export function runningContainers({ sandboxes, containers }: RuntimePod): ReadonlySet<string> | undefined {
  if (sandboxes[0]?.state !== "ready") return undefined;
  return new Set(containers.filter(({ state }) => state === "running").map(nameOf));
}

/** The newest instance of a container, optionally in one sandbox. */
export function newest(pod: RuntimePod, name: string, sandboxId?: string): ContainerStatus | undefined {
  return pod.containers.find(
    (each) => nameOf(each) === name && (sandboxId === undefined || each.podSandboxId === sandboxId),
  );
}

export function isRunning(pod: RuntimePod): boolean {
  return (
    pod.containers.some(({ state }) => state === "running") || pod.sandboxes.some(({ state }) => state === "ready")
  );
}
