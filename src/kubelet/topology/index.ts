/** The whole public surface of topology: where on the machine a container's CPUs, memory and devices lie. */
export { meanDistance, type TopologyPolicy } from "./affinity.ts";
export { readCpuCheckpoint, writeCpuCheckpoint } from "./checkpoints.ts";
export { CpuManager } from "./cpu-manager.ts";
export { checkCpuOptions, readCpuOptions } from "./cpu-options.ts";
export { type CpuSet, cpuSetText, isSameSet, parseCpuSet } from "./cpu-set.ts";
export { exclusiveCpus } from "./exclusive-cpus.ts";
export type { HintProvider, TopologyHint } from "./hints.ts";
export { type MachineTopology, numaNodesOf, type ReadSysFile, readTopology } from "./machine-topology.ts";
export { hugePageResource, MemoryManager, type MemoryReservation } from "./memory-manager.ts";
export { type Placement, type Rejection, TopologyManager, type TopologyScope } from "./topology-manager.ts";
export { type TopologyMetrics, topologyMetrics } from "./topology-metrics.ts";
export { checkNumaNodes, readTopologyOptions } from "./topology-options.ts";
