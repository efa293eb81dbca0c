/**
 * Resizing a running Pod: what it asks for, what its node has given it, and what is in force. Pure.
 *
 *     spec ──► does it fit? ──yes──► allocated ──► cgroups ──► applied ══► status.resources
 *                  └──no──► PodResizePending: Deferred, or Infeasible on this node at any time
 *
 * 1. Everything else works with the Pod as it was allocated: the status never tells more than was given.
 * 2. While what is allocated is not yet in force: PodResizeInProgress.
 */
import { type core, equalJson, type Json } from "#api";
import { timestamp } from "../pod-status/index.ts";

/** By container. */
export type Allocation = ReadonlyMap<string, core.ResourceRequirements>;

export type ResizeVerdict =
  | { readonly fits: true }
  | { readonly fits: false; readonly reason: "Deferred" | "Infeasible"; readonly message: string };

export type PendingResize = Exclude<ResizeVerdict, { fits: true }>;

/** What a Pod asks for, container by container; init containers that are not sidecars are never resized. */
export function askedFor({ spec }: core.Pod): Allocation {
  const { initContainers = [], containers = [] } = spec ?? {};
  return new Map([...initContainers, ...containers].map(({ name, resources = {} }) => [name, resources]));
}

/** What the node gave a Pod before this kubelet knew it, as the status tells; what the status does not tell is what is asked for. */
export function rememberedAllocation(pod: core.Pod): Allocation {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const told = new Map([...initContainerStatuses, ...containerStatuses].map((status) => [status.name, status]));
  return new Map(
    [...askedFor(pod)].map(([name, asked]) => {
      const status = told.get(name);
      if (status?.allocatedResources === undefined || status.containerID === undefined) return [name, asked];
      const { limits } = status.resources ?? {};
      const given = { ...asked, requests: status.allocatedResources, ...(limits !== undefined && { limits }) };
      return [name, isSame(given, asked) ? asked : given];
    }),
  );
}

/** What the node gives a Pod now: what it asks for if that fits, else what it had. */
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

/** The Pod with what it was given instead of what it asks for. */
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

/** Whether going from one to the other needs a new container, by its resize policies. */
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
  /** Whether what is allocated is not in force yet; with what went wrong. */
  readonly inProgress?: { readonly problem?: string } | undefined;
}

/** A condition keeps its time while it stays true. */
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
