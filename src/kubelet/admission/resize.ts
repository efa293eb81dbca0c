/**
 * Resize of a running Pod: what its spec asks for, what the node has allocated, what is applied to the containers.
 * Pure.
 *
 *     spec ──► does it fit? ──yes──► allocated ──► cgroups ──► applied ══► status.resources
 *                  └──no──► PodResizePending: Deferred, or Infeasible if the node is too small
 *
 * 1. All other code works with the Pod as it was allocated: the status never shows more than was allocated.
 * 2. PodResizeInProgress is true while the allocation is not yet applied.
 */
import { type core, equalJson, type Json } from "#api";
import { timestamp } from "../pod-status/index.ts";

/** By container name. */
export type Allocation = ReadonlyMap<string, core.ResourceRequirements>;

export type ResizeVerdict =
  | { readonly fits: true }
  | { readonly fits: false; readonly reason: "Deferred" | "Infeasible"; readonly message: string };

export type PendingResize = Exclude<ResizeVerdict, { fits: true }>;

/** The resources in the Pod's spec. The API server lets no init container be resized that is not a sidecar. */
export function askedFor({ spec }: core.Pod): Allocation {
  const { initContainers = [], containers = [] } = spec ?? {};
  return new Map([...initContainers, ...containers].map(({ name, resources = {} }) => [name, resources]));
}

/** What a kubelet before this one has allocated: from the status, otherwise from the spec. */
export function rememberedAllocation(pod: core.Pod): Allocation {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const statuses = new Map([...initContainerStatuses, ...containerStatuses].map((status) => [status.name, status]));
  return new Map(
    [...askedFor(pod)].map(([name, asked]) => {
      const status = statuses.get(name);
      if (status?.allocatedResources === undefined || status.containerID === undefined) return [name, asked];
      const { limits } = status.resources ?? {};
      const given = { ...asked, requests: status.allocatedResources, ...(limits !== undefined && { limits }) };
      return [name, isSame(given, asked) ? asked : given];
    }),
  );
}

/** The allocation from now on: what the spec asks for if that fits, otherwise what the Pod had. */
export function allocate(
  asked: core.Pod,
  before: Allocation,
  admit: (pod: core.Pod) => ResizeVerdict,
): { readonly allocation: Allocation; readonly pending?: PendingResize | undefined } {
  const wanted = askedFor(asked);
  if (isSameAllocation(before, wanted)) return { allocation: before };
  const verdict = admit(asked);
  return verdict.fits ? { allocation: wanted } : { allocation: before, pending: verdict };
}

export function isSameAllocation(a: Allocation, b: Allocation): boolean {
  return a.size === b.size && [...a].every(([name, resources]) => isSame(resources, b.get(name) ?? {}));
}

/** The Pod with its allocation in place of the resources in its spec. */
export function withAllocation(pod: core.Pod, allocation: Allocation): core.Pod {
  const { spec } = pod;
  if (spec === undefined || isSameAllocation(askedFor(pod), allocation)) return pod;
  const given = <C extends core.Container>(container: C): C => ({
    ...container,
    resources: allocation.get(container.name) ?? container.resources ?? {},
  });
  const { initContainers } = spec;
  return {
    ...pod,
    spec: {
      ...spec,
      containers: spec.containers.map(given),
      ...(initContainers !== undefined && { initContainers: initContainers.map(given) }),
    },
  };
}

export function isSame(a: core.ResourceRequirements, b: core.ResourceRequirements): boolean {
  const plain = ({ requests = {}, limits = {} }: core.ResourceRequirements) =>
    ({ requests, limits }) as unknown as Json;
  return equalJson(plain(a), plain(b));
}

/** Whether the container's resize policies ask for a restart. */
export function needsRestart(
  { resizePolicy = [] }: core.Container,
  before: core.ResourceRequirements,
  after: core.ResourceRequirements,
): boolean {
  return resizePolicy.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === "RestartContainer" &&
      (before.requests?.[resourceName] !== after.requests?.[resourceName] ||
        before.limits?.[resourceName] !== after.limits?.[resourceName]),
  );
}

export interface ResizeState {
  readonly pending?: PendingResize | undefined;
  /** The allocation is not applied yet; `problem`: why not. */
  readonly inProgress?: { readonly problem?: string } | undefined;
}

/** A condition keeps its lastTransitionTime while it stays true. */
export function resizeConditions(
  pod: core.Pod,
  { pending, inProgress }: ResizeState,
  nowMs: number,
): core.PodCondition[] {
  const dated = (type: string, reason?: string, message?: string): core.PodCondition => {
    const old = pod.status?.conditions?.find((condition) => condition.type === type);
    return {
      type,
      status: "True",
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
      ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
      lastTransitionTime: old?.lastTransitionTime ?? timestamp(nowMs),
    };
  };
  return [
    ...(pending === undefined ? [] : [dated("PodResizePending", pending.reason, pending.message)]),
    ...(inProgress === undefined
      ? []
      : [dated("PodResizeInProgress", inProgress.problem === undefined ? undefined : "Error", inProgress.problem)]),
  ];
}
