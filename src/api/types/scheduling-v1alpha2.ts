/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { Condition, ListMeta } from "./meta-v1.ts";

export type BasicSchedulingPolicy = Readonly<Record<string, never>>;

export interface GangSchedulingPolicy {
  readonly minCount: number;
}

export interface PodGroup {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: PodGroupSpec;
  readonly status?: PodGroupStatus;
}

export interface PodGroupList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly PodGroup[];
}

export interface PodGroupResourceClaim {
  readonly name: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
}

export interface PodGroupResourceClaimStatus {
  readonly name: string;
  readonly resourceClaimName?: string;
}

export interface PodGroupSchedulingConstraints {
  readonly topology?: readonly TopologyConstraint[];
}

export interface PodGroupSchedulingPolicy {
  readonly basic?: BasicSchedulingPolicy;
  readonly gang?: GangSchedulingPolicy;
}

export interface PodGroupSpec {
  readonly podGroupTemplateRef?: PodGroupTemplateReference;
  readonly schedulingPolicy: PodGroupSchedulingPolicy;
  readonly schedulingConstraints?: PodGroupSchedulingConstraints;
  readonly resourceClaims?: readonly PodGroupResourceClaim[];
  readonly disruptionMode?: "Pod" | "PodGroup";
  readonly priorityClassName?: string;
  readonly priority?: number;
}

export interface PodGroupStatus {
  readonly conditions?: readonly Condition[];
  readonly resourceClaimStatuses?: readonly PodGroupResourceClaimStatus[];
}

export interface PodGroupTemplate {
  readonly name: string;
  readonly schedulingPolicy: PodGroupSchedulingPolicy;
  readonly schedulingConstraints?: PodGroupSchedulingConstraints;
  readonly resourceClaims?: readonly PodGroupResourceClaim[];
  readonly disruptionMode?: "Pod" | "PodGroup";
  readonly priorityClassName?: string;
  readonly priority?: number;
}

export interface PodGroupTemplateReference {
  readonly workload?: WorkloadPodGroupTemplateReference;
}

export interface TopologyConstraint {
  readonly key: string;
}

export interface TypedLocalObjectReference {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}

export interface Workload {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: WorkloadSpec;
}

export interface WorkloadList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly Workload[];
}

export interface WorkloadPodGroupTemplateReference {
  readonly workloadName: string;
  readonly podGroupTemplateName: string;
}

export interface WorkloadSpec {
  readonly controllerRef?: TypedLocalObjectReference;
  readonly podGroupTemplates: readonly PodGroupTemplate[];
}
