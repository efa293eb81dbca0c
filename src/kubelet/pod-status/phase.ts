/**
 * The phase of a Pod, from the statuses of its containers.
 *
 *     Pending     a container has not been started yet, or an init container still runs
 *     Running     all have been started, and one runs or will be restarted
 *     Succeeded   all regular ones have exited with 0 and none will be restarted
 *     Failed      none will be restarted, and one has exited with another code; or an init container has
 *
 * Sidecars that have exited do not count.
 */
import type { core } from "#api";
import { isSidecar, shouldRestart } from "../lifecycle/index.ts";
import type { ContainerStatuses } from "./container-statuses.ts";

export type Phase = NonNullable<core.PodStatus["phase"]>;

/** `isOver`: no container will be restarted, whatever the policy. */
export function phaseOf(pod: core.Pod, { init, regular }: ContainerStatuses, isOver: boolean): Phase {
  const spec = pod.spec ?? { containers: [] };
  const initializing = initialization(spec, init);
  if (initializing === "failed") return "Failed";
  const counts = countStates(spec, init, regular);
  const hasInitialized = regular.some(({ state }) => state?.running !== undefined || state?.terminated !== undefined);
  if (initializing === "pending" || (counts.startingSidecars > 0 && !hasInitialized)) return "Pending";
  if (counts.waiting > 0) return "Pending";
  if (counts.running > 0) return "Running";
  if (counts.stopped === 0) return "Pending";
  if (!isOver && counts.restarting > 0) return "Running";
  return counts.stopped === counts.succeeded ? "Succeeded" : "Failed";
}

export function isFinal(phase: string | undefined): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

/** The progress of the init containers that are not sidecars. */
function initialization(spec: core.PodSpec, statuses: readonly core.ContainerStatus[]): "pending" | "failed" | "done" {
  let isPending = false;
  for (const [at, container] of (spec.initContainers ?? []).entries()) {
    if (isSidecar(container)) continue;
    const ended = endOf(statuses[at]);
    if (ended === undefined) isPending = true;
    else if (ended.exitCode !== 0 && !shouldRestart(container, spec, ended.exitCode)) return "failed";
  }
  return isPending ? "pending" : "done";
}

/** The terminated state, also of a container that waits for its restart. */
function endOf(status: core.ContainerStatus | undefined): core.ContainerStateTerminated | undefined {
  const { running, terminated } = status?.state ?? {};
  return running !== undefined ? undefined : (terminated ?? status?.lastState?.terminated);
}

function countStates(
  spec: core.PodSpec,
  init: readonly core.ContainerStatus[],
  regular: readonly core.ContainerStatus[],
) {
  const counts = { startingSidecars: 0, running: 0, waiting: 0, stopped: 0, restarting: 0, succeeded: 0 };
  for (const [at, container] of (spec.initContainers ?? []).entries()) {
    const status = init[at];
    if (!isSidecar(container) || status === undefined) continue;
    if (status.state?.running !== undefined) {
      counts.running++;
      if (status.started !== true) counts.startingSidecars++;
    } else if (endOf(status) === undefined) {
      counts.startingSidecars++;
      counts.waiting++;
    }
  }
  const containers = new Map((spec.containers ?? []).map((container) => [container.name, container]));
  for (const status of regular) {
    const ended = endOf(status);
    if (status.state?.running !== undefined) counts.running++;
    else if (ended === undefined) counts.waiting++;
    else {
      counts.stopped++;
      const container = containers.get(status.name);
      if (container !== undefined && shouldRestart(container, spec, ended.exitCode)) counts.restarting++;
      // A container that waits for its restart has not succeeded, whatever its exit code.
      if (status.state?.terminated?.exitCode === 0) counts.succeeded++;
    }
  }
  return counts;
}
