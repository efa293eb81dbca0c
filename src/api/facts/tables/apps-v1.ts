/** Written by scripts/api-facts.ts from k8s.io/api/apps/v1 0.36.4: not to be edited. */
export const appsV1 = `
package io.k8s.api.apps.v1
use core io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

enum DaemonSetUpdateStrategyType OnDelete|RollingUpdate
enum DeploymentStrategyType Recreate|RollingUpdate
enum PodManagementPolicyType OrderedReady|Parallel
enum StatefulSetUpdateStrategyType OnDelete|RollingUpdate
alias DaemonSetConditionType string
alias DeploymentConditionType string
alias PersistentVolumeClaimRetentionPolicyType string
alias ReplicaSetConditionType string
alias StatefulSetConditionType string

ControllerRevision
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 data? raw
 3 revision! int64

ControllerRevisionList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ControllerRevision

DaemonSet
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? DaemonSetSpec
 3 status? DaemonSetStatus

DaemonSetCondition
 1 type! DaemonSetConditionType
 2 status! core.ConditionStatus
 3 lastTransitionTime? time
 4 reason? string
 5 message? string

DaemonSetList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []DaemonSet

DaemonSetSpec
 1 selector! *meta.LabelSelector
 2 template! core.PodTemplateSpec
 3 updateStrategy? DaemonSetUpdateStrategy
 4 minReadySeconds? int32
 6 revisionHistoryLimit? *int32

DaemonSetStatus
 1 currentNumberScheduled! int32
 2 numberMisscheduled! int32
 3 desiredNumberScheduled! int32
 4 numberReady! int32
 5 observedGeneration? int64
 6 updatedNumberScheduled? int32
 7 numberAvailable? int32
 8 numberUnavailable? int32
 9 collisionCount? *int32
 10 conditions? []DaemonSetCondition list=map:type patch=merge:type

DaemonSetUpdateStrategy
 1 type? DaemonSetUpdateStrategyType
 2 rollingUpdate? *RollingUpdateDaemonSet

Deployment
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? DeploymentSpec
 3 status? DeploymentStatus

DeploymentCondition
 1 type! DeploymentConditionType
 2 status! core.ConditionStatus
 6 lastUpdateTime? time
 7 lastTransitionTime? time
 4 reason? string
 5 message? string

DeploymentList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Deployment

DeploymentSpec
 1 replicas? *int32
 2 selector! *meta.LabelSelector
 3 template! core.PodTemplateSpec
 4 strategy? DeploymentStrategy patch=retainKeys
 5 minReadySeconds? int32
 6 revisionHistoryLimit? *int32
 7 paused? boolean
 9 progressDeadlineSeconds? *int32

DeploymentStatus
 1 observedGeneration? int64
 2 replicas? int32
 3 updatedReplicas? int32
 7 readyReplicas? int32
 4 availableReplicas? int32
 5 unavailableReplicas? int32
 9 terminatingReplicas? *int32
 6 conditions? []DeploymentCondition list=map:type patch=merge:type
 8 collisionCount? *int32

DeploymentStrategy
 1 type? DeploymentStrategyType
 2 rollingUpdate? *RollingUpdateDeployment

ReplicaSet
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? ReplicaSetSpec
 3 status? ReplicaSetStatus

ReplicaSetCondition
 1 type! ReplicaSetConditionType
 2 status! core.ConditionStatus
 3 lastTransitionTime? time
 4 reason? string
 5 message? string

ReplicaSetList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ReplicaSet

ReplicaSetSpec
 1 replicas? *int32
 4 minReadySeconds? int32
 2 selector! *meta.LabelSelector
 3 template? core.PodTemplateSpec

ReplicaSetStatus
 1 replicas! int32
 2 fullyLabeledReplicas? int32
 4 readyReplicas? int32
 5 availableReplicas? int32
 7 terminatingReplicas? *int32
 3 observedGeneration? int64
 6 conditions? []ReplicaSetCondition list=map:type patch=merge:type

RollingUpdateDaemonSet
 1 maxUnavailable? *intOrString
 2 maxSurge? *intOrString

RollingUpdateDeployment
 1 maxUnavailable? *intOrString
 2 maxSurge? *intOrString

RollingUpdateStatefulSetStrategy
 1 partition? *int32
 2 maxUnavailable? *intOrString

StatefulSet
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? StatefulSetSpec
 3 status? StatefulSetStatus

StatefulSetCondition
 1 type! StatefulSetConditionType
 2 status! core.ConditionStatus
 3 lastTransitionTime? time
 4 reason? string
 5 message? string

StatefulSetList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []StatefulSet

StatefulSetOrdinals
 1 start int32

StatefulSetPersistentVolumeClaimRetentionPolicy
 1 whenDeleted? PersistentVolumeClaimRetentionPolicyType
 2 whenScaled? PersistentVolumeClaimRetentionPolicyType

StatefulSetSpec
 1 replicas? *int32
 2 selector! *meta.LabelSelector
 3 template! core.PodTemplateSpec
 4 volumeClaimTemplates? []core.PersistentVolumeClaim list=atomic
 5 serviceName string
 6 podManagementPolicy? PodManagementPolicyType
 7 updateStrategy? StatefulSetUpdateStrategy
 8 revisionHistoryLimit? *int32
 9 minReadySeconds? int32
 10 persistentVolumeClaimRetentionPolicy? *StatefulSetPersistentVolumeClaimRetentionPolicy
 11 ordinals? *StatefulSetOrdinals

StatefulSetStatus
 1 observedGeneration? int64
 2 replicas! int32
 3 readyReplicas? int32
 4 currentReplicas? int32
 5 updatedReplicas? int32
 6 currentRevision? string
 7 updateRevision? string
 9 collisionCount? *int32
 10 conditions? []StatefulSetCondition list=map:type patch=merge:type
 11 availableReplicas int32

StatefulSetUpdateStrategy
 1 type? StatefulSetUpdateStrategyType
 2 rollingUpdate? *RollingUpdateStatefulSetStrategy
`;
