/** The state of a container from its Pod's status: where a restarted node continues. Backoffs start over. */
import type { core } from "#api";
import type { ContainerInstance } from "../pod-status/index.ts";
import type { Role } from "./script.ts";

const LISTS = {
  init: "initContainerStatuses",
  sidecar: "initContainerStatuses",
  regular: "containerStatuses",
  ephemeral: "ephemeralContainerStatuses",
} as const;

export interface Adopted {
  readonly current: ContainerInstance | undefined;
  readonly last: ContainerInstance | undefined;
}

export function adopted(name: string, role: Role, status: core.PodStatus | undefined): Adopted {
  const known = status?.[LISTS[role]]?.find((each) => each.name === name);
  if (known === undefined) return { current: undefined, last: undefined };
  const { state, lastState, restartCount } = known;
  const current = instanceOf(known, state, restartCount);
  // The status of a container in backoff has its last instance only as lastState.
  if (current === undefined) return { current: instanceOf(known, lastState, restartCount), last: undefined };
  return { current, last: instanceOf(known, lastState, restartCount - 1) };
}

function instanceOf(
  { image, imageID, containerID }: core.ContainerStatus,
  state: core.ContainerState | undefined,
  restartCount: number,
): ContainerInstance | undefined {
  const { running, terminated } = state ?? {};
  const base = { image, imageID, restartCount: Math.max(0, restartCount) };
  if (running !== undefined)
    return { ...base, id: containerID ?? "", state: "running", startedAtMs: timeOf(running.startedAt) };
  if (terminated === undefined) return undefined;
  const { exitCode, reason, message, startedAt, finishedAt } = terminated;
  return {
    ...base,
    id: terminated.containerID ?? containerID ?? "",
    state: "exited",
    exitCode,
    reason,
    message,
    startedAtMs: timeOf(startedAt),
    finishedAtMs: timeOf(finishedAt),
  };
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
