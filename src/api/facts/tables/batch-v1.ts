/** Written by scripts/api-facts.ts from k8s.io/api/batch/v1 0.36.4: not to be edited. */
export const batchV1 = `
package io.k8s.api.batch.v1
use core io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1
use types io.k8s.apimachinery.pkg.types

enum CompletionMode Indexed|NonIndexed
enum ConcurrencyPolicy Allow|Forbid|Replace
enum PodFailurePolicyAction Count|FailIndex|FailJob|Ignore
enum PodFailurePolicyOnExitCodesOperator In|NotIn
enum PodReplacementPolicy Failed|TerminatingOrFailed
alias JobConditionType string

CronJob
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec?! CronJobSpec
 3 status? CronJobStatus

CronJobList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []CronJob

CronJobSpec
 1 schedule! string
 8 timeZone? *string
 2 startingDeadlineSeconds? *int64
 3 concurrencyPolicy? ConcurrencyPolicy
 4 suspend? *boolean
 5 jobTemplate! JobTemplateSpec
 6 successfulJobsHistoryLimit? *int32
 7 failedJobsHistoryLimit? *int32

CronJobStatus
 1 active? []core.ObjectReference list=atomic
 4 lastScheduleTime? *time
 5 lastSuccessfulTime? *time

Job
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? JobSpec
 3 status? JobStatus

JobCondition
 1 type! JobConditionType
 2 status! core.ConditionStatus
 3 lastProbeTime? time
 4 lastTransitionTime? time
 5 reason? string
 6 message? string

JobList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Job

JobSpec
 1 parallelism? *int32
 2 completions? *int32
 3 activeDeadlineSeconds? *int64
 11 podFailurePolicy? *PodFailurePolicy
 16 successPolicy? *SuccessPolicy
 7 backoffLimit? *int32
 12 backoffLimitPerIndex? *int32
 13 maxFailedIndexes? *int32
 4 selector? *meta.LabelSelector
 5 manualSelector? *boolean
 6 template! core.PodTemplateSpec
 8 ttlSecondsAfterFinished? *int32 go=TTLSecondsAfterFinished
 9 completionMode? *CompletionMode
 10 suspend? *boolean
 14 podReplacementPolicy? *PodReplacementPolicy
 15 managedBy? *string

JobStatus
 1 conditions? []JobCondition list=atomic patch=merge:type
 2 startTime? *time
 3 completionTime? *time
 4 active? int32
 5 succeeded? int32
 6 failed? int32
 11 terminating? *int32
 7 completedIndexes? string
 10 failedIndexes? *string
 8 uncountedTerminatedPods? *UncountedTerminatedPods
 9 ready? *int32

JobTemplateSpec
 1 metadata? meta.ObjectMeta
 2 spec? JobSpec

PodFailurePolicy
 1 rules! []PodFailurePolicyRule list=atomic

PodFailurePolicyOnExitCodesRequirement
 1 containerName? *string
 2 operator! PodFailurePolicyOnExitCodesOperator
 3 values! []int32 list=set

PodFailurePolicyOnPodConditionsPattern
 1 type! core.PodConditionType
 2 status core.ConditionStatus

PodFailurePolicyRule
 1 action! PodFailurePolicyAction
 2 onExitCodes? *PodFailurePolicyOnExitCodesRequirement
 3 onPodConditions? []PodFailurePolicyOnPodConditionsPattern list=atomic

SuccessPolicy
 1 rules! []SuccessPolicyRule list=atomic

SuccessPolicyRule
 1 succeededIndexes? *string
 2 succeededCount? *int32

UncountedTerminatedPods
 1 succeeded? []types.UID list=set
 2 failed? []types.UID list=set
`;
