/**
 * The phase of a Pod, from the statuses of its containers.
 *
 *     Pending     a container has not been started yet, or an init container is still at work
 *     Running     all have been started, and one runs or will be restarted
 *     Succeeded   all regular ones ended with 0 and none will be restarted
 *     Failed      none will be restarted, and one ended otherwise; or an init container did
 *
 * A sidecar that has ended counts for nothing: the regular containers decide.
 */
import type { core } from "#api";
import { isSidecar, shouldRestart } from "../lifecycle/index.ts";
import type { ContainerStatuses } from "./container-statuses.ts";

export type Phase = NonNullable<core.PodStatus["phase"]>;

/** `isOver`: nothing will be started again, whatever the policy. */
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

/** How far the init containers are that run before the others. */
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

/** How it ended: also of one that waits for its next start. */
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
      // One that waits for its next start has not succeeded, however it ended.
      if (status.state?.terminated?.exitCode === 0) counts.succeeded++;
    }
  }
  return counts;
}
