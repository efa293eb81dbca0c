/**
 * What a node answers to a change of a running Pod's resources: it gives them, puts them off while others use them, or says that it never can.
 */
import { compareQuantities, type core, equalJson, type Json } from "#api";
import type { Usage } from "../admission/usage.ts";
import { timestamp } from "../pod-status/index.ts";
import { type Amounts, numberOf, shortage, shortageText } from "./admission.ts";

export interface Resize {
  /** The Pod as its node has it: with the resources from before until they can be given. */
  readonly allocated: core.Pod;
  readonly pending: core.PodCondition | undefined;
  /** Containers that have to start anew for it. */
  readonly restarts: readonly string[];
}

export function resize(pod: core.Pod, before: core.Pod, usage: Usage, allocatable: Amounts, now: number): Resize {
  const changed = changedContainers(pod, before);
  if (changed.length === 0) return { allocated: pod, pending: undefined, restarts: [] };
  const missing = shortage(pod, usage, allocatable);
  if (missing === undefined)
    return { allocated: pod, pending: undefined, restarts: changed.filter(mustRestart).map(nameOf) };
  const { resource, requested, capacity } = missing;
  const isInfeasible = compareQuantities(requested, capacity) > 0;
  const [reason, message] = isInfeasible
    ? [
        "Infeasible",
        `Node didn't have enough capacity: ${resource}, requested: ${numberOf(resource, requested)}, capacity: ${numberOf(resource, capacity)}`,
      ]
    : ["Deferred", shortageText(missing)];
  const known = pod.status?.conditions?.find(({ type }) => type === "PodResizePending");
  const { generation } = pod.metadata;
  const pending: core.PodCondition = {
    type: "PodResizePending",
    status: "True",
    reason,
    message,
    lastTransitionTime: known?.lastTransitionTime ?? timestamp(now),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
  return { allocated: withResourcesOf(pod, before), pending, restarts: [] };
}

interface Changed {
  readonly container: core.Container;
  readonly before: core.ResourceRequirements;
}

function changedContainers(pod: core.Pod, before: core.Pod): readonly Changed[] {
  if (pod.spec === before.spec) return [];
  const known = new Map(allContainers(before).map(({ name, resources }) => [name, resources ?? {}]));
  return allContainers(pod).flatMap((container) => {
    const old = known.get(container.name);
    const isSame = old === undefined || equalJson((container.resources ?? {}) as Json, old as Json);
    return isSame ? [] : [{ container, before: old }];
  });
}

function mustRestart({ container, before }: Changed): boolean {
  return (container.resizePolicy ?? []).some(({ resourceName, restartPolicy }) => {
    const amounts = (of: core.ResourceRequirements | undefined) => [
      of?.requests?.[resourceName],
      of?.limits?.[resourceName],
    ];
    return restartPolicy === "RestartContainer" && amounts(before).join() !== amounts(container.resources).join();
  });
}

function nameOf({ container }: Changed): string {
  return container.name;
}

function withResourcesOf(pod: core.Pod, before: core.Pod): core.Pod {
  const known = new Map(allContainers(before).map(({ name, resources }) => [name, resources]));
  const keep = (containers: readonly core.Container[]) =>
    containers.map((container) => {
      const resources = known.get(container.name);
      return resources === undefined ? container : { ...container, resources };
    });
  const { spec } = pod;
  if (spec === undefined) return pod;
  const initContainers = spec.initContainers && keep(spec.initContainers);
  return {
    ...pod,
    spec: { ...spec, containers: keep(spec.containers), ...(initContainers !== undefined && { initContainers }) },
  };
}

function allContainers({ spec }: core.Pod): readonly core.Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}
