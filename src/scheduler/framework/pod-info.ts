/**
 * A pod as the scheduler sees it, computed once when it arrives and not at every node of every attempt.
 *
 * 1. Pods of one template share the parts that describe their requirements (`ask`, `labels`, `terms`, `spread`): the
 *    same object, not only an equal one. Only speed depends on the sharing.
 * 2. `ask` holds everything that a pod requires of a single node. A stage that reads "node" gets the ask instead of the
 *    pod, so its results can be reused for all pods with the same ask.
 * 3. Amounts are integers: cpu in thousandths, everything else in units, rounded up.
 */
import type { core, LabelMatcher, Labels } from "#api";

export interface PodInfo {
  readonly pod: core.Pod;
  readonly uid: string;
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly priority: number;
  /** Whether it has a deletionTimestamp. */
  readonly terminating: boolean;
  readonly ask: NodeAsk;
  readonly labels: LabelClass;
  readonly terms: PodTerms;
  /** The pod's own constraints; PodTopologySpread adds default ones. */
  readonly spread: readonly SpreadConstraint[];
  /** `namespace/name` of its claims, including those of generic ephemeral volumes. */
  readonly claims: readonly string[];
}

/** What a pod requires of its node. */
export interface NodeAsk {
  readonly nodeName: string;
  readonly priority: number;
  /** Non-zero totals, by the rules for init containers, sidecars, pod-level resources and overhead. */
  readonly requests: readonly Request[];
  /** The same with defaults for containers without requests (100m, 200MB): for scores only. */
  readonly scored: { readonly cpu: number; readonly memory: number };
  readonly nodeSelector: Labels;
  readonly nodeAffinity: core.NodeAffinity | undefined;
  readonly tolerations: readonly core.Toleration[];
  readonly hostPorts: readonly HostPort[];
  /** Images of containers, init containers and volumes, normalized (`:latest` without a tag). */
  readonly images: readonly string[];
  /** Number of containers and init containers: image scores are divided among them. */
  readonly containers: number;
}

export interface Request {
  /** The position of the resource in `NodeInfo.allocatable` and `requested`. */
  readonly resource: number;
  readonly name: string;
  readonly amount: number;
}

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** Namespace and labels of a pod: what selectors match. */
export interface LabelClass {
  readonly namespace: string;
  readonly labels: Labels;
}

/** Selects pods by namespaces and labels. */
export interface PodSelector {
  /** Equal selectors have equal keys. */
  readonly key: string;
  readonly namespaces: ReadonlySet<string>;
  /** Selects further namespaces by their labels. */
  readonly namespaceSelector: LabelMatcher;
  readonly selector: LabelMatcher;
}

export interface PodTerm {
  /** Equal terms have equal keys. */
  readonly key: string;
  readonly topologyKey: string;
  readonly select: PodSelector;
}

export interface WeightedPodTerm extends PodTerm {
  /** 1 to 100; negative for anti-affinity. */
  readonly weight: number;
}

/** Inter-pod affinity and anti-affinity. */
export interface PodTerms {
  readonly required: readonly PodTerm[];
  readonly requiredAnti: readonly PodTerm[];
  readonly preferred: readonly WeightedPodTerm[];
}

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly hard: boolean;
  /** Selects pods of the pod's own namespace. */
  readonly select: PodSelector;
  /** Counts only nodes that match the pod's node affinity. Default: true. */
  readonly honorsNodeAffinity: boolean;
  /** Counts only nodes whose taints the pod tolerates. Default: false. */
  readonly honorsTaints: boolean;
}
