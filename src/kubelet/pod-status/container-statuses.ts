/**
 * The statuses of a Pod's containers.
 *
 * 1. A container without an instance is waiting, unless its end was reported: then its status stays. One that was
 *    reported running and cannot be found has ended with 137 and the reason ContainerStatusUnknown.
 * 2. Only a container that is going to start is `waiting`; its terminated state becomes its lastState.
 * 3. Init containers are ready once they have exited with 0; ephemeral ones never are; others while they run, as
 *    their probes say.
 */
import type { core } from "#api";
import { isSidecar, shouldRestart } from "../lifecycle/index.ts";
import type { ContainerInstance, ObservedContainer, ObservedPod } from "./observed.ts";
import { timestamp } from "./time.ts";

const UNKNOWN = { exitCode: 137, reason: "ContainerStatusUnknown" };
const LOST = "The container could not be located when the pod was terminated";
const LOST_IN_BETWEEN =
  "The container could not be located when the pod was deleted.  The container used to be Running";
const INITIALIZED_BEFORE =
  "Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally";

type Role = "init" | "regular" | "ephemeral";

export interface ContainerStatuses {
  readonly init: readonly core.ContainerStatus[];
  readonly regular: readonly core.ContainerStatus[];
  readonly ephemeral: readonly core.ContainerStatus[];
}

export function containerStatuses(pod: core.Pod, observed: ObservedPod, before: core.PodStatus): ContainerStatuses {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const of = (
    role: Role,
    asked: readonly core.Container[],
    reported: readonly core.ContainerStatus[] | undefined,
  ): core.ContainerStatus[] => {
    const known = new Map((reported ?? []).map((status) => [status.name, status]));
    return asked.map((container) => statusOf(pod, observed, role, container, known.get(container.name)));
  };
  return {
    init: of("init", initContainers, before.initContainerStatuses),
    regular: byName(of("regular", containers, before.containerStatuses)),
    ephemeral: byName(of("ephemeral", ephemeralContainers, before.ephemeralContainerStatuses)),
  };
}

function statusOf(
  pod: core.Pod,
  observed: ObservedPod,
  role: Role,
  container: core.Container,
  before: core.ContainerStatus | undefined,
): core.ContainerStatus {
  const seen = observed.containers.get(container.name) ?? {};
  const status =
    seen.current === undefined
      ? unseen(pod, observed, role, container, before)
      : fromInstances(seen.current, seen.last, container, before, mountsOf(container, observed));
  const withDevices = role === "ephemeral" ? status : allocatedTo(container, observed, before, status);
  return probed(role, container, seen, waitingIfDue(pod, role, container, seen, withDevices));
}

/** Once a container has ended its devices go to others: its status keeps what was known of them. */
function allocatedTo(
  { name }: core.Container,
  { devices }: ObservedPod,
  before: core.ContainerStatus | undefined,
  status: core.ContainerStatus,
): core.ContainerStatus {
  const isOver = status.state?.terminated !== undefined;
  const known = devices?.get(name) ?? (isOver ? before?.allocatedResourcesStatus : undefined);
  return known === undefined ? status : { ...status, allocatedResourcesStatus: known };
}

function unseen(
  pod: core.Pod,
  observed: ObservedPod,
  role: Role,
  container: core.Container,
  before: core.ContainerStatus | undefined,
): core.ContainerStatus {
  if (before?.state?.terminated !== undefined) return before;
  const volumeMounts = mountsOf(container, observed);
  const hasInitContainers = (pod.spec?.initContainers ?? []).length > 0;
  const waiting = { reason: hasInitContainers ? "PodInitializing" : "ContainerCreating" };
  const status: core.ContainerStatus = {
    name: container.name,
    image: container.image ?? "",
    imageID: "",
    ready: false,
    restartCount: before?.restartCount ?? 0,
    state: { waiting },
    lastState: before?.lastState ?? {},
    ...(volumeMounts.length > 0 && { volumeMounts }),
  };
  if (role === "init" && !isSidecar(container) && anyRegularInstance(pod, observed)) {
    const terminated = { exitCode: 0, reason: "Completed", message: INITIALIZED_BEFORE };
    return { ...status, state: { terminated } };
  }
  if (before?.state?.running === undefined || before.lastState?.terminated !== undefined) return status;
  const isRestart = pod.metadata.deletionTimestamp === undefined;
  return {
    ...status,
    restartCount: status.restartCount + (isRestart ? 1 : 0),
    lastState: { terminated: { ...UNKNOWN, message: LOST_IN_BETWEEN } },
  };
}

function fromInstances(
  current: ContainerInstance,
  last: ContainerInstance | undefined,
  container: core.Container,
  before: core.ContainerStatus | undefined,
  volumeMounts: readonly core.VolumeMountStatus[],
): core.ContainerStatus {
  const isLost = current.state === "unknown" && before?.state?.running !== undefined;
  const allocated = container.resources?.requests;
  const remembered = before?.containerID === current.id ? before.lastState : undefined;
  return {
    name: container.name,
    image: current.image,
    imageID: current.imageID,
    containerID: current.id,
    ready: false,
    restartCount: isLost ? before.restartCount + 1 : current.restartCount,
    state: isLost ? { terminated: { ...UNKNOWN, message: LOST } } : stateOf(current),
    lastState: last === undefined ? (remembered ?? {}) : stateOf(last),
    ...(allocated !== undefined && Object.keys(allocated).length > 0 && { allocatedResources: allocated }),
    resources: current.resources ?? container.resources ?? {},
    ...(volumeMounts.length > 0 && { volumeMounts }),
    ...(current.user !== undefined && { user: current.user }),
  };
}

function stateOf(instance: ContainerInstance): core.ContainerState {
  const { id, state, exitCode = 0, signal, reason, message, startedAtMs, finishedAtMs } = instance;
  const startedAt = startedAtMs === undefined ? {} : { startedAt: timestamp(startedAtMs) };
  if (state === "running") return { running: startedAt };
  // Created but not started, or unknown.
  if (state !== "exited") return { waiting: {} };
  return {
    terminated: {
      exitCode,
      ...(signal !== undefined && { signal }),
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
      ...startedAt,
      ...(finishedAtMs !== undefined && { finishedAt: timestamp(finishedAtMs) }),
      containerID: id,
    },
  };
}

function waitingIfDue(
  pod: core.Pod,
  role: Role,
  container: core.Container,
  { current, waiting }: ObservedContainer,
  status: core.ContainerStatus,
): core.ContainerStatus {
  if (waiting === undefined || !isToStart(pod, role, container, current)) return status;
  const { terminated } = status.state ?? {};
  return { ...status, state: { waiting }, ...(terminated !== undefined && { lastState: { terminated } }) };
}

function isToStart(
  pod: core.Pod,
  role: Role,
  container: core.Container,
  current: ContainerInstance | undefined,
): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  if (current === undefined || current.state === "unknown" || current.state === "created") return true;
  if (current.state === "running" || pod.spec === undefined) return false;
  const exitCode = current.exitCode ?? 0;
  return !(role === "init" && exitCode === 0) && shouldRestart(container, pod.spec, exitCode);
}

function probed(
  role: Role,
  container: core.Container,
  seen: ObservedContainer,
  status: core.ContainerStatus,
): core.ContainerStatus {
  if (role === "ephemeral") return { ...status, ready: false };
  const started = status.state?.running !== undefined && seen.started !== false;
  const ready =
    role === "init" && !isSidecar(container)
      ? status.state?.terminated?.exitCode === 0
      : started && seen.ready !== false;
  return { ...status, started, ready };
}

function mountsOf(
  { volumeMounts = [] }: core.Container,
  { recursiveReadOnlyMounts: isAble = false }: ObservedPod,
): core.VolumeMountStatus[] {
  return volumeMounts.map(({ name, mountPath, readOnly = false, recursiveReadOnly = "Disabled" }) => ({
    name,
    mountPath,
    ...(readOnly && {
      readOnly,
      recursiveReadOnly: isAble && recursiveReadOnly !== "Disabled" ? "Enabled" : "Disabled",
    }),
  }));
}

function anyRegularInstance({ spec }: core.Pod, { containers }: ObservedPod): boolean {
  return (spec?.containers ?? []).some(({ name }) => containers.get(name)?.current !== undefined);
}

function byName(statuses: core.ContainerStatus[]): readonly core.ContainerStatus[] {
  return statuses.sort((a, b) => (a.name < b.name ? -1 : 1));
}
