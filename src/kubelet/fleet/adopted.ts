/** A container as its Pod's status tells of it: where a node that starts again goes on. */
import type { core } from "#api";
import type { ContainerInstance } from "../pod-status/index.ts";
import type { ContainerLife } from "./pod-life.ts";
import { restartDelayMs } from "./restart-delay.ts";
import type { Role } from "./script.ts";

type Adopted = Omit<ContainerLife, "role" | "script" | "spec">;

const LISTS = {
  init: "initContainerStatuses",
  sidecar: "initContainerStatuses",
  regular: "containerStatuses",
  ephemeral: "ephemeralContainerStatuses",
} as const;

export function adopted(name: string, role: Role, status: core.PodStatus | undefined): Adopted {
  const known = status?.[LISTS[role]]?.find((each) => each.name === name);
  const nothing = { current: undefined, last: undefined, waiting: undefined, startAtMs: undefined };
  if (known === undefined) return { ...nothing, crashes: 0, pulls: 0 };
  const { state, lastState, restartCount } = known;
  const last = instanceOf(known, lastState, restartCount - 1);
  const crashes = restartCount;
  const running = instanceOf(known, state, restartCount);
  if (running?.state === "running") return { ...nothing, current: running, last, crashes, pulls: 0 };
  // What waits to start again is told as its last state.
  const current = running ?? instanceOf(known, lastState, restartCount);
  if (current === undefined) return { ...nothing, crashes, pulls: 0 };
  const startAtMs = (current.finishedAtMs ?? 0) + restartDelayMs(crashes);
  return { current, last: undefined, waiting: state?.waiting, startAtMs, crashes: crashes + 1, pulls: 0 };
}

function instanceOf(
  { image, imageID, containerID }: core.ContainerStatus,
  state: core.ContainerState | undefined,
  restartCount: number,
): ContainerInstance | undefined {
  const { running, terminated } = state ?? {};
  const base = { image, imageID, restartCount: Math.max(0, restartCount) };
  if (running !== undefined)
    return { ...base, id: containerID ?? "", state: "running", ...timeOf("startedAtMs", running.startedAt) };
  if (terminated === undefined) return undefined;
  const { exitCode, reason, message, startedAt, finishedAt } = terminated;
  return {
    ...base,
    id: terminated.containerID ?? containerID ?? "",
    state: "exited",
    exitCode,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...timeOf("startedAtMs", startedAt),
    ...timeOf("finishedAtMs", finishedAt),
  };
}

function timeOf<K extends string>(name: K, text: string | undefined): { [key in K]?: number } {
  return (text === undefined ? {} : { [name]: Date.parse(text) }) as { [key in K]?: number };
}
