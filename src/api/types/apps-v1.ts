/** Written by scripts/api-types.ts: not to be edited. */
import type { Int64, Json } from "../machinery/json/json.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { PersistentVolumeClaim, PodTemplateSpec } from "./core-v1.ts";
import type { LabelSelector, ListMeta } from "./meta-v1.ts";

export interface ControllerRevision {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly data?: Json;
  readonly revision: Int64;
}

export interface ControllerRevisionList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly ControllerRevision[];
}

export interface DaemonSet {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: DaemonSetSpec;
  readonly status?: DaemonSetStatus;
}

export interface DaemonSetCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface DaemonSetList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly DaemonSet[];
}

export interface DaemonSetSpec {
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
  readonly updateStrategy?: DaemonSetUpdateStrategy;
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
}

export interface DaemonSetStatus {
  readonly currentNumberScheduled: number;
  readonly numberMisscheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberReady: number;
  readonly observedGeneration?: Int64;
  readonly updatedNumberScheduled?: number;
  readonly numberAvailable?: number;
  readonly numberUnavailable?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly DaemonSetCondition[];
}

export interface DaemonSetUpdateStrategy {
  readonly type?: "OnDelete" | "RollingUpdate";
  readonly rollingUpdate?: RollingUpdateDaemonSet;
}

export interface Deployment {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: DeploymentSpec;
  readonly status?: DeploymentStatus;
}

export interface DeploymentCondition {
  readonly type: string;
  readonly status: string;
  readonly lastUpdateTime?: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface DeploymentList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly Deployment[];
}

export interface DeploymentSpec {
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
  readonly strategy?: DeploymentStrategy;
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly paused?: boolean;
  readonly progressDeadlineSeconds?: number;
}

export interface DeploymentStatus {
  readonly observedGeneration?: Int64;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly conditions?: readonly DeploymentCondition[];
  readonly collisionCount?: number;
}

export interface DeploymentStrategy {
  readonly type?: "Recreate" | "RollingUpdate";
  readonly rollingUpdate?: RollingUpdateDeployment;
}

export interface ReplicaSet {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: ReplicaSetSpec;
  readonly status?: ReplicaSetStatus;
}

export interface ReplicaSetCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface ReplicaSetList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly ReplicaSet[];
}

export interface ReplicaSetSpec {
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  readonly selector: LabelSelector;
  readonly template?: PodTemplateSpec;
}

export interface ReplicaSetStatus {
  readonly replicas: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: Int64;
  readonly conditions?: readonly ReplicaSetCondition[];
}

export interface RollingUpdateDaemonSet {
  readonly maxUnavailable?: number | string;
  readonly maxSurge?: number | string;
}

export interface RollingUpdateDeployment {
  readonly maxUnavailable?: number | string;
  readonly maxSurge?: number | string;
}

export interface RollingUpdateStatefulSetStrategy {
  readonly partition?: number;
  readonly maxUnavailable?: number | string;
}

export interface StatefulSet {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: StatefulSetSpec;
  readonly status?: StatefulSetStatus;
}

export interface StatefulSetCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface StatefulSetList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly StatefulSet[];
}

export interface StatefulSetOrdinals {
  readonly start?: number;
}

export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  readonly whenDeleted?: string;
  readonly whenScaled?: string;
}

export interface StatefulSetSpec {
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
  readonly serviceName?: string;
  readonly podManagementPolicy?: "OrderedReady" | "Parallel";
  readonly updateStrategy?: StatefulSetUpdateStrategy;
  readonly revisionHistoryLimit?: number;
  readonly minReadySeconds?: number;
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy;
  readonly ordinals?: StatefulSetOrdinals;
}

export interface StatefulSetStatus {
  readonly observedGeneration?: Int64;
  readonly replicas: number;
  readonly readyReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly collisionCount?: number;
  readonly conditions?: readonly StatefulSetCondition[];
  readonly availableReplicas?: number;
}

export interface StatefulSetUpdateStrategy {
  readonly type?: "OnDelete" | "RollingUpdate";
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategy;
}
