/** What the CPU and memory managers have handed out, for the PodResources API. */
import type { ExclusiveResources, MemoryBlock } from "./pod-resources/index.ts";
import type { TopologyManager } from "./topology/index.ts";

type Manager = Pick<TopologyManager, "cpus" | "memory">;
type Block = ReturnType<NonNullable<Manager["memory"]>["blocksOf"]>[number];

export function exclusiveResources({ cpus, memory }: Manager): ExclusiveResources {
  return {
    cpus: (uid, container) => inOrder(cpus?.cpusOf(uid, container)),
    memory: (uid, container) => (memory?.blocksOf(uid, container) ?? []).map(blockOf),
    allocatableCpus: () => inOrder(cpus?.allocatable),
    allocatableMemory: () => (memory?.allocatable() ?? []).map(blockOf),
  };
}

function inOrder(cpus: ReadonlySet<number> = new Set()): readonly number[] {
  return [...cpus].sort((a, b) => a - b);
}

function blockOf({ type, size, numaAffinity }: Block): MemoryBlock {
  return { type, bytes: size, numaNodes: numaAffinity };
}
