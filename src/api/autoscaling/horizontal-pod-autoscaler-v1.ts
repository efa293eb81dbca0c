/**
 * HorizontalPodAutoscaler of autoscaling/v1: an older view of the same objects. What it has no fields for, it shows in
 * annotations.
 */
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { KubeObject } from "../machinery/schema/object.ts";
import type { HorizontalPodAutoscaler as HpaV1 } from "../types/autoscaling-v1.ts";
import type { HorizontalPodAutoscaler as HpaV2 } from "../types/autoscaling-v2.ts";
import { defaultCpuUtilization, fromV1, metricsAnnotation, toV1 } from "./conversion.ts";
import { HorizontalPodAutoscaler } from "./horizontal-pod-autoscaler.ts";
import { validateHpaSpec, validateHpaStatus } from "./validation.ts";

export const HorizontalPodAutoscalerV1 = defineKind<HpaV1>("autoscaling/v1", "HorizontalPodAutoscaler", {
  defaults({ metadata, spec }) {
    if (spec === undefined) return;
    spec.minReplicas ??= 1;
    if (metadata.annotations?.[metricsAnnotation] === undefined)
      spec.targetCPUUtilizationPercentage ??= defaultCpuUtilization;
  },
  create: { validate: (hpa, at, features) => validateHpaSpec(fromV1(hpa).spec, undefined, at.child("spec"), features) },
  update: {
    validate: (hpa, old, at, features) =>
      validateHpaSpec(fromV1(hpa).spec, fromV1(old).spec, at.child("spec"), features),
  },
  subresources: { status: { validate: ({ status }, _old, at) => validateHpaStatus(status, at.child("status")) } },
  columns: (HorizontalPodAutoscaler.columns ?? []).map((column) =>
    column.name === ageColumn.name
      ? ageColumn
      : { ...column, cell: (hpa: HpaV1, now: number) => column.cell(fromV1(hpa), now) },
  ),
  storedAs: {
    group: HorizontalPodAutoscaler.group,
    version: HorizontalPodAutoscaler.version,
    kind: HorizontalPodAutoscaler.kind,
    toStored: (hpa): HpaV2 => fromV1(hpa),
    fromStored: (stored: KubeObject): HpaV1 => toV1(stored as HpaV2),
  },
});
