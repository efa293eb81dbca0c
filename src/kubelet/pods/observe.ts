/** From the runtime's view of a Pod to the observed state that its status is made from. */
import type { core } from "#api";
import { attemptOf, nameOf } from "../containers/index.ts";
import type { ContainerInstance, ObservedContainer, ObservedPod } from "../pod-status/index.ts";
import type { ContainerStatus } from "../runtime/runtime.ts";
import type { PodParts } from "./parts.ts";
import type { RuntimePod } from "./runtime-pod.ts";
import { terminationMessage } from "./termination-message.ts";

export interface ObserveOptions {
  readonly waiting: ReadonlyMap<string, core.ContainerStateWaiting>;
  readonly previous?: core.PodStatus | undefined;
  readonly isOver?: boolean;
  readonly failure?: { readonly reason: string; readonly message: string } | undefined;
  readonly conditions?: readonly core.PodCondition[];
  /** The resources that are applied to a container. */
  readonly applied?: (container: ContainerStatus) => core.ResourceRequirements;
}

type Parts = Pick<PodParts, "files" | "probes" | "facts" | "runtimeName" | "devices">;

export async function observe(
  parts: Parts,
  pod: core.Pod,
  runtime: RuntimePod,
  { waiting, previous, isOver, failure, conditions, applied }: ObserveOptions,
): Promise<ObservedPod> {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const [sandbox] = runtime.sandboxes;
  const seen = new Map<string, ObservedContainer>();
  for (const container of [...initContainers, ...containers, ...ephemeralContainers])
    seen.set(container.name, await observeContainer(parts, container, runtime, waiting.get(container.name), applied));
  const handler = parts.facts().handlers?.find(({ name }) => name === (sandbox?.runtimeHandler ?? ""));
  return {
    containers: seen,
    recursiveReadOnlyMounts: handler?.recursiveReadOnlyMounts,
    sandboxReady: sandbox?.state === "ready" && (pod.spec?.hostNetwork === true || sandbox.ips.length > 0),
    hostIPs: parts.facts().nodeIps,
    podIPs: sandbox?.ips ?? [],
    previous,
    isOver,
    failure,
    conditions,
    devices: devicesOf(parts, pod),
  };
}

function devicesOf({ devices }: Parts, pod: core.Pod): ReadonlyMap<string, readonly core.ResourceStatus[]> {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const found = [...initContainers, ...containers].map((each) => [each.name, devices.health(pod, each)] as const);
  return new Map(found.filter(([, statuses]) => statuses.length > 0));
}

async function observeContainer(
  parts: Parts,
  { name, startupProbe, readinessProbe }: core.Container,
  runtime: RuntimePod,
  waiting: core.ContainerStateWaiting | undefined,
  applied: ObserveOptions["applied"],
): Promise<ObservedContainer> {
  const [current, last] = runtime.containers.filter((each) => nameOf(each) === name);
  if (current === undefined) return { waiting };
  const verdicts = parts.probes.verdicts(current.id);
  const isStarted = startupProbe === undefined || verdicts.startup === "success";
  return {
    waiting,
    current: { ...(await instance(parts, current)), resources: applied?.(current) },
    last: last && (await instance(parts, last)),
    started: isStarted,
    ready: isStarted && (readinessProbe === undefined || parts.probes.readiness(current.id) === "success"),
  };
}

async function instance(parts: Parts, status: ContainerStatus): Promise<ContainerInstance> {
  const { id, state, image, imageRef, startedAtMs, finishedAtMs, exitCode, reason, user } = status;
  const common = {
    id: `${parts.runtimeName}://${id}`,
    state,
    image,
    imageID: imageRef,
    restartCount: attemptOf(status),
    startedAtMs: startedAtMs > 0 ? startedAtMs : undefined,
    user: user && { linux: user },
  };
  if (state !== "exited") return common;
  const message = await terminationMessage(parts.files, status);
  return {
    ...common,
    finishedAtMs,
    exitCode,
    reason: reason === "" ? (exitCode === 0 ? "Completed" : "Error") : reason,
    message: message === "" ? undefined : message,
  };
}
