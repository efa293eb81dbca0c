/** Written by scripts/api-types.ts: not to be edited. */
import type { Int64 } from "../machinery/json/json.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { LabelSelector, ListMeta } from "./meta-v1.ts";

export interface ContainerResourceMetricSource {
  readonly name: string;
  readonly target: MetricTarget;
  readonly container: string;
}

export interface ContainerResourceMetricStatus {
  readonly name: string;
  readonly current: MetricValueStatus;
  readonly container: string;
}

export interface CrossVersionObjectReference {
  readonly kind: string;
  readonly name: string;
  readonly apiVersion?: string;
}

export interface ExternalMetricSource {
  readonly metric: MetricIdentifier;
  readonly target: MetricTarget;
}

export interface ExternalMetricStatus {
  readonly metric: MetricIdentifier;
  readonly current: MetricValueStatus;
}

export interface HPAScalingPolicy {
  readonly type: string;
  readonly value: number;
  readonly periodSeconds: number;
}

export interface HPAScalingRules {
  readonly stabilizationWindowSeconds?: number;
  readonly selectPolicy?: string;
  readonly policies?: readonly HPAScalingPolicy[];
  readonly tolerance?: string;
}

export interface HorizontalPodAutoscaler {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status?: HorizontalPodAutoscalerStatus;
}

export interface HorizontalPodAutoscalerBehavior {
  readonly scaleUp?: HPAScalingRules;
  readonly scaleDown?: HPAScalingRules;
}

export interface HorizontalPodAutoscalerCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface HorizontalPodAutoscalerList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly HorizontalPodAutoscaler[];
}

export interface HorizontalPodAutoscalerSpec {
  readonly scaleTargetRef: CrossVersionObjectReference;
  readonly minReplicas?: number;
  readonly maxReplicas: number;
  readonly metrics?: readonly MetricSpec[];
  readonly behavior?: HorizontalPodAutoscalerBehavior;
}

export interface HorizontalPodAutoscalerStatus {
  readonly observedGeneration?: Int64;
  readonly lastScaleTime?: string;
  readonly currentReplicas?: number;
  readonly desiredReplicas: number;
  readonly currentMetrics?: readonly MetricStatus[];
  readonly conditions?: readonly HorizontalPodAutoscalerCondition[];
}

export interface MetricIdentifier {
  readonly name: string;
  readonly selector?: LabelSelector;
}

export interface MetricSpec {
  readonly type: string;
  readonly object?: ObjectMetricSource;
  readonly pods?: PodsMetricSource;
  readonly resource?: ResourceMetricSource;
  readonly containerResource?: ContainerResourceMetricSource;
  readonly external?: ExternalMetricSource;
}

export interface MetricStatus {
  readonly type: string;
  readonly object?: ObjectMetricStatus;
  readonly pods?: PodsMetricStatus;
  readonly resource?: ResourceMetricStatus;
  readonly containerResource?: ContainerResourceMetricStatus;
  readonly external?: ExternalMetricStatus;
}

export interface MetricTarget {
  readonly type: string;
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: number;
}

export interface MetricValueStatus {
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: number;
}

export interface ObjectMetricSource {
  readonly describedObject: CrossVersionObjectReference;
  readonly target: MetricTarget;
  readonly metric: MetricIdentifier;
}

export interface ObjectMetricStatus {
  readonly metric: MetricIdentifier;
  readonly current: MetricValueStatus;
  readonly describedObject: CrossVersionObjectReference;
}

export interface PodsMetricSource {
  readonly metric: MetricIdentifier;
  readonly target: MetricTarget;
}

export interface PodsMetricStatus {
  readonly metric: MetricIdentifier;
  readonly current: MetricValueStatus;
}

export interface ResourceMetricSource {
  readonly name: string;
  readonly target: MetricTarget;
}

export interface ResourceMetricStatus {
  readonly name: string;
  readonly current: MetricValueStatus;
}
