/**
 * Gives the containers of a Pod their CPUs, memory and devices together, before the Pod starts.
 *
 *     Pod ──► hints of each provider ──► affinity ──► admitted? ──► allocate at each provider ══► state files
 *
 * 1. One Pod at a time. What a Pod got that is rejected half-way is given back.
 * 2. A Pod that has its resources already keeps them: a kubelet that restarts asks again for every Pod.
 * 3. The state is stored before a container runs on it.
 */
import type { core } from "#api";
import { type Clock, KeyedLock } from "#base";
import { type Affinity, affinityOf, type Numa, type TopologyPolicy } from "./affinity.ts";
import { type CpuManager, SMT_ALIGNMENT } from "./cpu-manager.ts";
import { containersOf, exclusiveCpus } from "./exclusive-cpus.ts";
import type { HintProvider } from "./hints.ts";
import type { MemoryManager } from "./memory-manager.ts";
import type { TopologyMetrics } from "./topology-metrics.ts";

export type TopologyScope = "container" | "pod";

/** Why the node rejects a Pod. */
export interface Rejection {
  readonly reason: string;
  readonly message: string;
}

export interface TopologyManagerOptions {
  readonly policy: TopologyPolicy;
  readonly scope: TopologyScope;
  readonly numa: Numa;
  /** Undefined: the policy is none. */
  readonly cpus?: CpuManager | undefined;
  readonly memory?: MemoryManager | undefined;
  /** Of devices, and others. */
  readonly others?: readonly HintProvider[] | undefined;
  /** Stores a state file. */
  readonly save: (manager: "cpu" | "memory", text: string) => Promise<void>;
  readonly metrics: TopologyMetrics;
  readonly clock: Clock;
}

/** CPUs and NUMA nodes of a container, as cgroups name them. */
export interface Placement {
  readonly cpus: ReadonlySet<number> | undefined;
  readonly isExclusive: boolean;
  readonly numaNodes: ReadonlySet<number> | undefined;
}

const ALL = "";

export class TopologyManager {
  readonly #options: TopologyManagerOptions;
  readonly #providers: readonly HintProvider[];
  readonly #lock = new KeyedLock();
  readonly #saved = new Map<string, string>();

  constructor(options: TopologyManagerOptions) {
    const { cpus, memory, others = [] } = options;
    this.#options = options;
    this.#providers = [cpus, memory, ...others].filter((each) => each !== undefined);
  }

  get cpus(): CpuManager | undefined {
    return this.#options.cpus;
  }

  get memory(): MemoryManager | undefined {
    return this.#options.memory;
  }

  /** Undefined: it has what it asks for. */
  admit(pod: core.Pod): Promise<Rejection | undefined> {
    return this.#lock.run(ALL, async () => {
      const { metrics, clock, policy } = this.#options;
      const startMs = clock.monotonic();
      const rejection = await this.#admit(pod);
      if (rejection !== undefined) for (const provider of this.#providers) provider.release(pod.metadata.uid ?? "");
      await this.#save();
      if (policy !== "none") metrics.admitted(startMs, rejection === undefined);
      return rejection;
    });
  }

  release(podUid: string): Promise<void> {
    return this.#lock.run(ALL, async () => {
      for (const provider of this.#providers) provider.release(podUid);
      await this.#save();
    });
  }

  placementOf(podUid: string, container: string): Placement {
    const { cpus, memory } = this.#options;
    const own = cpus?.cpusOf(podUid, container);
    return {
      cpus: own ?? cpus?.shared,
      isExclusive: own !== undefined,
      numaNodes: memory?.nodesOf(podUid, container),
    };
  }

  /** Whether a container of the Pod has CPUs for itself. */
  hasExclusiveCpus(podUid: string): boolean {
    return (this.#options.cpus?.exclusive.get(podUid)?.size ?? 0) > 0;
  }

  /** Pods that have something. */
  users(): ReadonlySet<string> {
    return new Set(this.#options.cpus?.exclusive.keys() ?? []);
  }

  /** State files exist from the start. */
  async start(): Promise<void> {
    await this.#save();
  }

  async #admit(pod: core.Pod): Promise<Rejection | undefined> {
    const { scope, policy } = this.#options;
    const ofPod = scope === "pod" && policy !== "none" ? this.#affinity((each) => each.hintsForPod(pod)) : undefined;
    if (ofPod?.admitted === false) return this.#misaligned();
    for (const container of containersOf(pod)) {
      const affinity = ofPod ?? this.#affinity((each) => each.hintsForContainer(pod, container));
      if (!affinity.admitted) return this.#misaligned();
      for (const provider of this.#providers) {
        const problem = await provider.allocate(pod, container, affinity.hint);
        this.#count(provider, pod, container, problem);
        if (problem !== undefined) return rejectionOf(problem);
      }
    }
    const isAligned = policy === "restricted" || policy === "single-numa-node";
    if (isAligned) this.#options.metrics.aligned(scope, "numa_node", true);
    return undefined;
  }

  #affinity(hintsOf: (provider: HintProvider) => ReturnType<HintProvider["hintsForPod"]>): Affinity {
    const { policy, numa } = this.#options;
    if (policy === "none") return affinityOf(policy, [], numa);
    return affinityOf(policy, this.#providers.map(hintsOf), numa);
  }

  #misaligned(): Rejection {
    const { metrics, scope } = this.#options;
    metrics.aligned(scope, "numa_node", false);
    return { reason: "TopologyAffinityError", message: "Resources cannot be allocated with Topology locality" };
  }

  #count(provider: HintProvider, pod: core.Pod, container: core.Container, problem: string | undefined): void {
    const { metrics, cpus, memory } = this.#options;
    const isPinned =
      provider === cpus
        ? exclusiveCpus(pod, container) > 0
        : provider === memory &&
          (problem !== undefined || memory.blocksOf(pod.metadata.uid ?? "", container.name).length > 0);
    if (isPinned) metrics.pinned(provider.name, problem === undefined);
  }

  async #save(): Promise<void> {
    const { cpus, memory, save, metrics } = this.#options;
    for (const manager of [cpus, memory]) {
      const text = manager?.checkpoint();
      if (manager === undefined || text === undefined || this.#saved.get(manager.name) === text) continue;
      await save(manager.name, text);
      this.#saved.set(manager.name, text);
    }
    if (cpus !== undefined) metrics.cpus(cpus.shared.size, exclusiveByNode(cpus));
  }
}

function rejectionOf(problem: string): Rejection {
  if (problem.startsWith(SMT_ALIGNMENT)) return { reason: "SMTAlignmentError", message: problem };
  const message = `Allocate failed due to ${problem}, which is unexpected`;
  return { reason: "UnexpectedAdmissionError", message };
}

function exclusiveByNode({ topology, exclusive }: CpuManager): ReadonlyMap<number, number> {
  const counts = new Map(topology.nodes.map(({ id }) => [id, 0]));
  for (const containers of exclusive.values())
    for (const cpus of containers.values())
      for (const id of cpus) {
        const node = topology.cpus.get(id)?.numa ?? 0;
        counts.set(node, (counts.get(node) ?? 0) + 1);
      }
  return counts;
}
