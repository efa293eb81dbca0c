/**
 * Conversion of metrics between autoscaling/v1, where each source has fields of its own, and autoscaling/v2, where all
 * share one target.
 */
import { parseQuantity } from "../machinery/scalars/quantity.ts";
import type { MetricSpec as MetricSpecV1, MetricStatus as MetricStatusV1 } from "../types/autoscaling-v1.ts";
import type {
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from "../types/autoscaling-v2.ts";

type Selector = MetricIdentifier["selector"];

export function metricFromV1({ type, object, pods, resource, containerResource, external }: MetricSpecV1): MetricSpec {
  return given({
    type,
    object: object && {
      describedObject: object.target,
      target: target(object.averageValue === undefined ? "Value" : "AverageValue", {
        value: object.averageValue !== undefined && isZero(object.targetValue) ? undefined : object.targetValue,
        averageValue: object.averageValue,
      }),
      metric: identifier(object.metricName, object.selector),
    },
    pods: pods && {
      metric: identifier(pods.metricName, pods.selector),
      target: target("AverageValue", { averageValue: pods.targetAverageValue }),
    },
    resource: resource && { name: resource.name, target: resourceTarget(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      target: resourceTarget(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metric: identifier(external.metricName, external.metricSelector),
      target: target(external.targetValue === undefined ? "AverageValue" : "Value", {
        value: external.targetValue,
        averageValue: external.targetAverageValue,
      }),
    },
  });
}

/** Fields stand in the order in which Kubernetes writes them. */
export function metricToV1({ type, object, pods, resource, containerResource, external }: MetricSpec): MetricSpecV1 {
  return given({
    type: type as MetricSpecV1["type"],
    object:
      object &&
      given({
        target: object.describedObject,
        metricName: object.metric.name,
        targetValue: object.target.value ?? "0",
        selector: object.metric.selector,
        averageValue: object.target.averageValue,
      }),
    pods:
      pods &&
      given({
        metricName: pods.metric.name,
        targetAverageValue: pods.target.averageValue ?? "0",
        selector: pods.metric.selector,
      }),
    resource: resource && given({ name: resource.name, ...resourceTargetToV1(resource.target) }),
    containerResource:
      containerResource &&
      given({
        name: containerResource.name,
        ...resourceTargetToV1(containerResource.target),
        container: containerResource.container,
      }),
    external:
      external &&
      given({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        targetValue: external.target.value,
        targetAverageValue: external.target.averageValue,
      }),
  });
}

export function metricStatusFromV1({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: MetricStatusV1): MetricStatus {
  return given({
    type,
    object: object && {
      metric: identifier(object.metricName, object.selector),
      current: given({ value: object.currentValue, averageValue: object.averageValue }),
      describedObject: object.target,
    },
    pods: pods && {
      metric: identifier(pods.metricName, pods.selector),
      current: given({ averageValue: pods.currentAverageValue }),
    },
    resource: resource && { name: resource.name, current: resourceValue(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      current: resourceValue(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metric: identifier(external.metricName, external.metricSelector),
      current: given({ value: external.currentValue, averageValue: external.currentAverageValue }),
    },
  });
}

export function metricStatusToV1({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: MetricStatus): MetricStatusV1 {
  return given({
    type: type as MetricStatusV1["type"],
    object:
      object &&
      given({
        target: object.describedObject,
        metricName: object.metric.name,
        currentValue: object.current.value ?? "0",
        selector: object.metric.selector,
        averageValue: object.current.averageValue,
      }),
    pods:
      pods &&
      given({
        metricName: pods.metric.name,
        currentAverageValue: pods.current.averageValue ?? "0",
        selector: pods.metric.selector,
      }),
    resource: resource && given({ name: resource.name, ...resourceValueToV1(resource.current) }),
    containerResource:
      containerResource &&
      given({
        name: containerResource.name,
        ...resourceValueToV1(containerResource.current),
        container: containerResource.container,
      }),
    external:
      external &&
      given({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        currentValue: external.current.value ?? "0",
        currentAverageValue: external.current.averageValue,
      }),
  });
}

interface ResourceFields {
  readonly targetAverageUtilization?: number;
  readonly targetAverageValue?: string;
}

function resourceTarget({ targetAverageUtilization: share, targetAverageValue }: ResourceFields): MetricTarget {
  return target(share === undefined ? "AverageValue" : "Utilization", {
    averageValue: targetAverageValue,
    averageUtilization: share,
  });
}

function resourceTargetToV1({ averageUtilization, averageValue }: MetricTarget) {
  return { targetAverageUtilization: averageUtilization, targetAverageValue: averageValue };
}

function resourceValue(values: {
  readonly currentAverageUtilization?: number;
  readonly currentAverageValue?: string;
}): MetricValueStatus {
  return given({
    averageValue: values.currentAverageValue,
    averageUtilization: values.currentAverageUtilization,
  });
}

function resourceValueToV1({ averageUtilization, averageValue }: MetricValueStatus) {
  return { currentAverageUtilization: averageUtilization, currentAverageValue: averageValue ?? "0" };
}

function target(
  type: string,
  values: { readonly [Name in keyof MetricTarget]?: MetricTarget[Name] | undefined },
): MetricTarget {
  return given({ type, ...values });
}

function identifier(name: string, selector: Selector | undefined): MetricIdentifier {
  return selector === undefined ? { name } : { name, selector };
}

function isZero(quantity: string | undefined): boolean {
  return quantity === undefined || parseQuantity(quantity).unscaled === 0n;
}

/** An object of the fields that are set. */
function given<T extends object>(fields: { readonly [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
