/** Allocates the resources in a Pod's spec when they fit, and applies them to its containers. */
import type { core } from "#api";
import { isAbort } from "#base";
import { allocate, rememberedAllocation, withAllocation } from "../admission/index.ts";
import { containerResources, messageOf, RESOURCES } from "../containers/index.ts";
import type { ContainerStatus } from "../runtime/runtime.ts";
import type { PodActions } from "./actions.ts";
import { containerOf } from "./kill.ts";
import type { PodParts } from "./parts.ts";
import type { PodMemory } from "./pod-memory.ts";

/** The Pod with its allocation: what its spec asks for as soon as that fits. */
export function allocated(parts: PodParts, asked: core.Pod, memory: PodMemory): core.Pod {
  const before = memory.allocation ?? rememberedAllocation(asked);
  const { allocation, pending } = allocate(asked, before, parts.admitResize);
  memory.allocation = allocation;
  memory.resize = { pending, inProgress: memory.resize.inProgress };
  return withAllocation(asked, allocation);
}

export function appliedTo({ applied }: PodMemory): (container: ContainerStatus) => core.ResourceRequirements {
  return ({ id, annotations }) =>
    applied.get(id) ?? (JSON.parse(annotations[RESOURCES] ?? "{}") as core.ResourceRequirements);
}

/** Returns whether something was done. A resize that the runtime refuses is reported and retried with the next sync. */
export async function resizeAll(
  parts: PodParts,
  pod: core.Pod,
  { resize }: PodActions,
  memory: PodMemory,
  signal: AbortSignal,
): Promise<boolean> {
  const { pending } = memory.resize;
  if (resize.length === 0) {
    const wasUnderWay = memory.resize.inProgress !== undefined;
    memory.resize = { pending };
    return wasUnderWay;
  }
  try {
    await parts.cgroups.ensure(pod, parts.topology?.hasExclusiveCpus(pod.metadata.uid ?? ""));
    for (const { id, name } of resize) {
      const container = containerOf(pod, name);
      if (container === undefined) continue;
      const { oomScoreAdj: _, ...resources } = containerResources(pod, container, {
        memoryCapacityBytes: parts.facts().memoryCapacityBytes,
        rules: parts.facts().rules,
        placement: parts.topology?.placementOf(pod, container.name),
      });
      await parts.runtime.updateContainerResources(id, resources, signal);
      memory.applied.set(id, container.resources ?? {});
    }
    memory.resize = { pending };
    return true;
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    const problem = messageOf(error);
    parts.events.record(pod, "Warning", "ResizeError", problem);
    memory.resize = { pending, inProgress: { problem } };
    return false;
  }
}
