/** Plugin arguments: `pluginConfig[].args` with all defaults. */
import type { core } from "#api";

export interface ResourceSpec {
  readonly name: string;
  readonly weight: number;
}

/** A point of the scoring function: `score` of 10 at `utilization` percent, linear in between. */
export interface ShapePoint {
  readonly utilization: number;
  readonly score: number;
}

export type ScoringStrategyType = "LeastAllocated" | "MostAllocated" | "RequestedToCapacityRatio";

export interface ScoringStrategy {
  readonly type: ScoringStrategyType;
  readonly resources: readonly ResourceSpec[];
  readonly requestedToCapacityRatio?: { readonly shape: readonly ShapePoint[] };
}

export interface NodeResourcesFitArgs {
  readonly ignoredResources: readonly string[];
  readonly ignoredResourceGroups: readonly string[];
  readonly scoringStrategy: ScoringStrategy;
}

export interface NodeResourcesBalancedAllocationArgs {
  readonly resources: readonly ResourceSpec[];
}

export interface NodeAffinityArgs {
  readonly addedAffinity?: core.NodeAffinity;
}

export interface InterPodAffinityArgs {
  readonly hardPodAffinityWeight: number;
  readonly ignorePreferredTermsOfExistingPods: boolean;
}

export interface PodTopologySpreadArgs {
  readonly defaultingType: "System" | "List";
  readonly defaultConstraints: readonly core.TopologySpreadConstraint[];
}

export interface DefaultPreemptionArgs {
  readonly minCandidateNodesPercentage: number;
  readonly minCandidateNodesAbsolute: number;
}

export interface VolumeBindingArgs {
  readonly bindTimeoutSeconds: number;
}

export interface DynamicResourcesArgs {
  /** How long one attempt may search for devices; zero: without a limit. */
  readonly filterTimeout: string;
  /** How long devices with binding conditions may take. */
  readonly bindingTimeout: string;
}

/** Arguments by plugin name. */
export interface PluginArguments {
  readonly DefaultPreemption: DefaultPreemptionArgs;
  readonly DynamicResources: DynamicResourcesArgs;
  readonly InterPodAffinity: InterPodAffinityArgs;
  readonly NodeAffinity: NodeAffinityArgs;
  readonly NodeResourcesBalancedAllocation: NodeResourcesBalancedAllocationArgs;
  readonly NodeResourcesFit: NodeResourcesFitArgs;
  readonly PodTopologySpread: PodTopologySpreadArgs;
  readonly VolumeBinding: VolumeBindingArgs;
}

const CPU_AND_MEMORY: readonly ResourceSpec[] = [
  { name: "cpu", weight: 1 },
  { name: "memory", weight: 1 },
];

export const DEFAULT_ARGUMENTS: PluginArguments = {
  DefaultPreemption: { minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 100 },
  DynamicResources: { filterTimeout: "10s", bindingTimeout: "10m0s" },
  InterPodAffinity: { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: false },
  NodeAffinity: {},
  NodeResourcesBalancedAllocation: { resources: CPU_AND_MEMORY },
  NodeResourcesFit: {
    ignoredResources: [],
    ignoredResourceGroups: [],
    scoringStrategy: { type: "LeastAllocated", resources: CPU_AND_MEMORY },
  },
  PodTopologySpread: { defaultingType: "System", defaultConstraints: [] },
  VolumeBinding: { bindTimeoutSeconds: 600 },
};
