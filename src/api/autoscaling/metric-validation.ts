/** Validation of metrics: each has one source, and a target that fits it. */
import { table } from "#base";
import { containerResourceNameFaults } from "../core/resources/standard-resources.ts";
import { fits } from "../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../machinery/errors/field-error.ts";
import { checkDns1123Label, checkPathSegmentName } from "../machinery/names/names.ts";
import { parseQuantity } from "../machinery/scalars/quantity.ts";
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from "../types/autoscaling-v2.ts";

/** In the order in which they are validated. */
const sources = ["object", "external", "pods", "resource", "containerResource"] as const;
type Source = (typeof sources)[number];

const sourceOfType: Readonly<Record<string, Source>> = table({
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
});
const types = Object.keys(sourceOfType);

export function validateMetrics(
  metrics: readonly MetricSpec[],
  minReplicas: number | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const errors = metrics.flatMap((metric, i) => validateMetric(metric, at.index(i)));
  const works = metrics.some(({ type }) => type === "Object" || type === "External");
  if (minReplicas !== 0 || works) return errors;
  return [
    ...errors,
    forbidden(at, "must specify at least one Object or External metric to support scaling to zero replicas"),
  ];
}

function validateMetric(metric: MetricSpec, at: FieldPath): readonly FieldError[] {
  const { type = "" } = metric;
  const wanted = Object.hasOwn(sourceOfType, type) ? sourceOfType[type] : undefined;
  const present = sources.filter((source) => metric[source] !== undefined);
  const typeAt = at.child("type");
  const errors: FieldError[] = [];
  if (type === "") errors.push(required(typeAt, "must specify a metric source type"));
  if (wanted === undefined) errors.push(notSupported(typeAt, type, types));
  // Only the first source is validated.
  if (present[0] !== undefined) errors.push(...validateSource[present[0]](metric, at.child(present[0])));
  if (wanted === undefined) errors.push(notSupported(typeAt, type, types));
  else if (!present.includes(wanted)) {
    errors.push(required(at.child(wanted), "must populate information for the given metric source"));
  }
  if (present.length === 1) return errors;
  const surplus = present.filter((source) => source !== wanted);
  return [
    ...errors,
    ...surplus.map((source) => forbidden(at.child(source), "must populate the given metric source only")),
  ];
}

const validateSource: Readonly<Record<Source, (metric: MetricSpec, at: FieldPath) => readonly FieldError[]>> = {
  object: ({ object }, at) => [
    ...validateReference(object?.describedObject, at.child("describedObject")),
    ...validateIdentifier(object?.metric, at.child("metric")),
    ...validateTarget(object?.target, at.child("target")),
    ...(hasValue(object?.target)
      ? []
      : [required(at.child("target", "averageValue"), "must set either a target value or averageValue")]),
  ],
  external: ({ external }, at) => [
    ...validateIdentifier(external?.metric, at.child("metric")),
    ...validateTarget(external?.target, at.child("target")),
    ...(hasValue(external?.target)
      ? []
      : [
          required(at.child("target", "averageValue"), "must set either a target value for metric or a per-pod target"),
        ]),
    ...(external?.target.value !== undefined && external.target.averageValue !== undefined
      ? [forbidden(at.child("target", "value"), "may not set both a target value for metric and a per-pod target")]
      : []),
  ],
  pods: ({ pods }, at) => [
    ...validateIdentifier(pods?.metric, at.child("metric")),
    ...validateTarget(pods?.target, at.child("target")),
    ...(isPositive(pods?.target.averageValue)
      ? []
      : [required(at.child("target", "averageValue"), "must specify a positive target averageValue")]),
  ],
  resource: ({ resource }, at) => [
    ...(resource?.name ? [] : [required(at.child("name"), "must specify a resource name")]),
    ...validateResourceTarget(resource?.target, at.child("target")),
  ],
  containerResource: ({ containerResource }, at) => [
    ...(containerResource?.name
      ? containerResourceNameFaults(containerResource.name, at.child("name"))
      : [required(at.child("name"), "must specify a resource name")]),
    ...(containerResource?.container
      ? fits(checkDns1123Label, containerResource.container, at.child("container"))
      : [required(at.child("container"), "must specify a container")]),
    ...validateResourceTarget(containerResource?.target, at.child("target")),
  ],
};

function validateResourceTarget(target: MetricTarget | undefined, at: FieldPath): readonly FieldError[] {
  const { averageUtilization: share, averageValue } = target ?? {};
  const errors = [...validateTarget(target, at)];
  if (share === undefined && averageValue === undefined) {
    errors.push(required(at.child("averageUtilization"), "must set either a target raw value or a target utilization"));
  }
  if (share !== undefined && averageValue !== undefined) {
    errors.push(forbidden(at.child("averageValue"), "may not set both a target raw value and a target utilization"));
  }
  return errors;
}

function validateTarget(target: MetricTarget | undefined, at: FieldPath): readonly FieldError[] {
  const { type = "", averageUtilization: share } = target ?? {};
  const errors: FieldError[] = [];
  if (type === "") errors.push(required(at.child("type"), "must specify a metric target type"));
  if (!["Utilization", "Value", "AverageValue"].includes(type)) {
    errors.push(invalid(at.child("type"), type, "must be either Utilization, Value, or AverageValue"));
  }
  for (const name of ["value", "averageValue"] as const) {
    const value = target?.[name];
    if (value !== undefined && !isPositive(value)) errors.push(invalid(at.child(name), value, "must be positive"));
  }
  if (share !== undefined && share < 1)
    errors.push(invalid(at.child("averageUtilization"), share, "must be greater than 0"));
  return errors;
}

function validateIdentifier(metric: MetricIdentifier | undefined, at: FieldPath): readonly FieldError[] {
  const name = metric?.name ?? "";
  if (name === "") return [required(at.child("name"), "must specify a metric name")];
  return checkPathSegmentName(name).map((why) => invalid(at.child("name"), name, why));
}

function hasValue(target: MetricTarget | undefined): boolean {
  return target?.value !== undefined || target?.averageValue !== undefined;
}

function isPositive(quantity: string | undefined): boolean {
  return quantity !== undefined && parseQuantity(quantity).unscaled > 0n;
}

export type Reference = CrossVersionObjectReference | undefined;

export function validateReference(reference: Reference, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ["kind", "name"] as const) {
    const value = reference?.[name] ?? "";
    if (value === "") errors.push(required(at.child(name)));
    else for (const why of checkPathSegmentName(value)) errors.push(invalid(at.child(name), value, why));
  }
  const apiVersion = reference?.apiVersion ?? "";
  if (apiVersion.split("/").length > 2) {
    errors.push(invalid(at.child("apiVersion"), apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  }
  return errors;
}
