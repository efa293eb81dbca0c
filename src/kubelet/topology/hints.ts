/**
 * What hands out resources that lie on NUMA nodes: CPUs, memory, huge pages, devices. The topology manager asks each of
 * them where a container could go, merges their hints, and has all of them allocate under the affinity that it chose.
 */
import type { core } from "#api";

/** NUMA nodes that an allocation may use. `affinity` undefined: no preference about NUMA nodes (any). */
export interface TopologyHint {
  readonly affinity: ReadonlySet<number> | undefined;
  readonly preferred: boolean;
}

/** Something that hands out resources of a node and knows on which NUMA nodes they are. */
export interface HintProvider {
  readonly name: string;
  /** By resource. A resource without an entry has no preference; an empty list: no NUMA node can satisfy it. */
  hintsForContainer(pod: core.Pod, container: core.Container): ReadonlyMap<string, readonly TopologyHint[]>;
  hintsForPod(pod: core.Pod): ReadonlyMap<string, readonly TopologyHint[]>;
  /** Allocates under the affinity that was chosen; a text says why it can't (it becomes UnexpectedAdmissionError). */
  allocate(
    pod: core.Pod,
    container: core.Container,
    affinity: TopologyHint,
  ): string | undefined | Promise<string | undefined>;
  release(podUid: string): void;
}
