/** Written by scripts/api-facts.ts from k8s.io/api/autoscaling/v1 0.36.4: not to be edited. */
export const autoscalingV1 = `
package io.k8s.api.autoscaling.v1
use core io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

enum MetricSourceType ContainerResource|External|Object|Pods|Resource
alias HorizontalPodAutoscalerConditionType string

ContainerResourceMetricSource
 1 name! core.ResourceName
 2 targetAverageUtilization? *int32
 3 targetAverageValue? *quantity
 5 container! string

ContainerResourceMetricStatus
 1 name! core.ResourceName
 2 currentAverageUtilization? *int32
 3 currentAverageValue! quantity
 4 container! string

CrossVersionObjectReference atomic
 1 kind! string
 2 name! string
 3 apiVersion? string go=APIVersion

ExternalMetricSource
 1 metricName! string
 2 metricSelector? *meta.LabelSelector
 3 targetValue? *quantity
 4 targetAverageValue? *quantity

ExternalMetricStatus
 1 metricName! string
 2 metricSelector? *meta.LabelSelector
 3 currentValue! quantity
 4 currentAverageValue? *quantity

HorizontalPodAutoscaler
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec?! HorizontalPodAutoscalerSpec
 3 status? HorizontalPodAutoscalerStatus

HorizontalPodAutoscalerCondition
 1 type! HorizontalPodAutoscalerConditionType
 2 status! core.ConditionStatus
 3 lastTransitionTime? time
 4 reason? string
 5 message? string

HorizontalPodAutoscalerList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []HorizontalPodAutoscaler

HorizontalPodAutoscalerSpec
 1 scaleTargetRef! CrossVersionObjectReference
 2 minReplicas? *int32
 3 maxReplicas! int32
 4 targetCPUUtilizationPercentage? *int32

HorizontalPodAutoscalerStatus
 1 observedGeneration? *int64
 2 lastScaleTime? *time
 3 currentReplicas! int32
 4 desiredReplicas! int32
 5 currentCPUUtilizationPercentage? *int32

MetricSpec
 1 type! MetricSourceType
 2 object? *ObjectMetricSource
 3 pods? *PodsMetricSource
 4 resource? *ResourceMetricSource
 7 containerResource? *ContainerResourceMetricSource
 5 external? *ExternalMetricSource

MetricStatus
 1 type! MetricSourceType
 2 object? *ObjectMetricStatus
 3 pods? *PodsMetricStatus
 4 resource? *ResourceMetricStatus
 7 containerResource? *ContainerResourceMetricStatus
 5 external? *ExternalMetricStatus

ObjectMetricSource
 1 target! CrossVersionObjectReference
 2 metricName! string
 3 targetValue! quantity
 4 selector? *meta.LabelSelector
 5 averageValue? *quantity

ObjectMetricStatus
 1 target! CrossVersionObjectReference
 2 metricName! string
 3 currentValue! quantity
 4 selector? *meta.LabelSelector
 5 averageValue? *quantity

PodsMetricSource
 1 metricName! string
 2 targetAverageValue! quantity
 3 selector? *meta.LabelSelector

PodsMetricStatus
 1 metricName! string
 2 currentAverageValue! quantity
 3 selector? *meta.LabelSelector

ResourceMetricSource
 1 name! core.ResourceName
 2 targetAverageUtilization? *int32
 3 targetAverageValue? *quantity

ResourceMetricStatus
 1 name! core.ResourceName
 2 currentAverageUtilization? *int32
 3 currentAverageValue! quantity

Scale
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? ScaleSpec
 3 status? ScaleStatus

ScaleSpec
 1 replicas? int32 =0

ScaleStatus
 1 replicas! int32
 2 selector? string
`;
