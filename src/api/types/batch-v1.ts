/** Written by scripts/api-types.ts: not to be edited. */
import type { Int64 } from "../machinery/json/json.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { ObjectReference, PodTemplateSpec } from "./core-v1.ts";
import type { LabelSelector, ListMeta } from "./meta-v1.ts";

export interface CronJob {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: CronJobSpec;
  readonly status?: CronJobStatus;
}

export interface CronJobList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly CronJob[];
}

export interface CronJobSpec {
  readonly schedule: string;
  readonly timeZone?: string;
  readonly startingDeadlineSeconds?: Int64;
  readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
  readonly suspend?: boolean;
  readonly jobTemplate: JobTemplateSpec;
  readonly successfulJobsHistoryLimit?: number;
  readonly failedJobsHistoryLimit?: number;
}

export interface CronJobStatus {
  readonly active?: readonly ObjectReference[];
  readonly lastScheduleTime?: string;
  readonly lastSuccessfulTime?: string;
}

export interface Job {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: JobSpec;
  readonly status?: JobStatus;
}

export interface JobCondition {
  readonly type: string;
  readonly status: string;
  readonly lastProbeTime?: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface JobList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly Job[];
}

export interface JobSpec {
  readonly parallelism?: number;
  readonly completions?: number;
  readonly activeDeadlineSeconds?: Int64;
  readonly podFailurePolicy?: PodFailurePolicy;
  readonly successPolicy?: SuccessPolicy;
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly selector?: LabelSelector;
  readonly manualSelector?: boolean;
  readonly template: PodTemplateSpec;
  readonly ttlSecondsAfterFinished?: number;
  readonly completionMode?: "Indexed" | "NonIndexed";
  readonly suspend?: boolean;
  readonly podReplacementPolicy?: "Failed" | "TerminatingOrFailed";
  readonly managedBy?: string;
}

export interface JobStatus {
  readonly conditions?: readonly JobCondition[];
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly active?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly terminating?: number;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly uncountedTerminatedPods?: UncountedTerminatedPods;
  readonly ready?: number;
}

export interface JobTemplateSpec {
  readonly metadata?: ObjectMeta;
  readonly spec?: JobSpec;
}

export interface PodFailurePolicy {
  readonly rules: readonly PodFailurePolicyRule[];
}

export interface PodFailurePolicyOnExitCodesRequirement {
  readonly containerName?: string;
  readonly operator: "In" | "NotIn";
  readonly values: readonly number[];
}

export interface PodFailurePolicyOnPodConditionsPattern {
  readonly type: string;
  readonly status?: string;
}

export interface PodFailurePolicyRule {
  readonly action: "Count" | "FailIndex" | "FailJob" | "Ignore";
  readonly onExitCodes?: PodFailurePolicyOnExitCodesRequirement;
  readonly onPodConditions?: readonly PodFailurePolicyOnPodConditionsPattern[];
}

export interface SuccessPolicy {
  readonly rules: readonly SuccessPolicyRule[];
}

export interface SuccessPolicyRule {
  readonly succeededIndexes?: string;
  readonly succeededCount?: number;
}

export interface UncountedTerminatedPods {
  readonly succeeded?: readonly string[];
  readonly failed?: readonly string[];
}
