/** HorizontalPodAutoscaler: scales a workload by the metrics of its pods. */
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { Column } from "../machinery/kind.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { HPAScalingRules, HorizontalPodAutoscaler as HpaObject } from "../types/autoscaling-v2.ts";
import { defaultCpuUtilization } from "./conversion.ts";
import { targetsText } from "./targets-text.ts";
import { validateHpaSpec, validateHpaStatus } from "./validation.ts";

const specType = "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec";
const statusType = "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus";

const columns: readonly Column<HpaObject>[] = [
  {
    name: "Reference",
    type: "string",
    doc: `${specType}.scaleTargetRef`,
    cell: ({ spec }) => `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
  },
  {
    name: "Targets",
    type: "string",
    doc: `${specType}.metrics`,
    cell: ({ spec, status }) => targetsText(spec.metrics ?? [], status?.currentMetrics ?? []),
  },
  {
    name: "MinPods",
    type: "string",
    doc: `${specType}.minReplicas`,
    cell: ({ spec }) => (spec.minReplicas === undefined ? "<unset>" : String(spec.minReplicas)),
  },
  { name: "MaxPods", type: "string", doc: `${specType}.maxReplicas`, cell: ({ spec }) => spec.maxReplicas ?? 0 },
  {
    name: "Replicas",
    type: "string",
    doc: `${statusType}.currentReplicas`,
    cell: ({ status }) => status?.currentReplicas ?? 0,
  },
  ageColumn,
];

export const HorizontalPodAutoscaler = defineKind<HpaObject>("autoscaling/v2", "HorizontalPodAutoscaler", {
  defaults({ spec }) {
    if (spec === undefined) return;
    spec.minReplicas ??= 1;
    if ((spec.metrics ?? []).length === 0) {
      const target = { type: "Utilization", averageUtilization: defaultCpuUtilization };
      spec.metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
    }
    if (spec.behavior === undefined) return;
    spec.behavior.scaleUp = withDefaults(spec.behavior.scaleUp, scaleUpDefaults());
    spec.behavior.scaleDown = withDefaults(spec.behavior.scaleDown, scaleDownDefaults());
  },
  create: { validate: ({ spec }, at, features) => validateHpaSpec(spec, undefined, at.child("spec"), features) },
  update: { validate: ({ spec }, old, at, features) => validateHpaSpec(spec, old.spec, at.child("spec"), features) },
  subresources: { status: { validate: ({ status }, _old, at) => validateHpaStatus(status, at.child("status")) } },
  columns,
});

type Rules = Draft<HPAScalingRules>;

function withDefaults(rules: Rules | undefined, defaults: Rules): Rules {
  return { ...defaults, ...rules };
}

function scaleUpDefaults(): Rules {
  return {
    stabilizationWindowSeconds: 0,
    selectPolicy: "Max",
    policies: [
      { type: "Pods", value: 4, periodSeconds: 15 },
      { type: "Percent", value: 100, periodSeconds: 15 },
    ],
  };
}

/** Without a stabilization window: the controller's own setting applies. */
function scaleDownDefaults(): Rules {
  return { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };
}
