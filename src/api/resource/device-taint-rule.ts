/** DeviceTaintRule: a taint on all devices that a selector matches. */
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { type FieldError, type FieldPath, tooMany } from "../machinery/errors/field-error.ts";
import type { RequestFacts } from "../machinery/kind.ts";
import { formatTime, instantOf } from "../machinery/scalars/time.ts";
import type { Draft } from "../machinery/schema/object.ts";
import { validateConditions } from "../policy/index.ts";
import type { DeviceTaintRuleSpec, DeviceTaintRule as RuleObject } from "../types/resource-v1alpha3.ts";
import { validateTaint } from "./device-toleration.ts";
import { driverNameFaults, labelFaults, poolNameFaults } from "./names.ts";

const mostConditions = 8;

export const DeviceTaintRule = defineKind<RuleObject>("resource.k8s.io/v1alpha3", "DeviceTaintRule", {
  generation: "spec",
  create: { prepare: (draft, request) => stampTaint(draft, undefined, request) },
  update: { prepare: stampTaint },
  validate: ({ spec }, at) => validateSpec(spec, at.child("spec")),
  subresources: {
    status: {
      keeps: "nothing",
      validate: ({ status }, _old, at) => {
        const [conditions, where] = [status?.conditions ?? [], at.child("status", "conditions")];
        return [
          ...validateConditions(conditions, where),
          ...(conditions.length > mostConditions ? [tooMany(where, conditions.length, mostConditions)] : []),
        ];
      },
    },
  },
  columns: [ageColumn],
});

/** The time of the taint: when it was added, or when its effect changed without a new time. */
function stampTaint({ spec }: Draft<RuleObject>, old: RuleObject | undefined, request: RequestFacts | undefined): void {
  const { taint } = spec;
  if (request === undefined || taint === undefined) return;
  const before = old?.spec.taint;
  const stale = before !== undefined && before.effect !== taint.effect && before.timeAdded === taint.timeAdded;
  if (taint.timeAdded === undefined || stale) taint.timeAdded = formatTime(instantOf(request.now));
}

function validateSpec({ deviceSelector, taint }: DeviceTaintRuleSpec, at: FieldPath): readonly FieldError[] {
  const { driver, pool, device } = deviceSelector ?? {};
  const where = at.child("deviceSelector");
  return [
    ...(driver === undefined ? [] : driverNameFaults(driver, where.child("driver"))),
    ...(pool === undefined ? [] : poolNameFaults(pool, where.child("pool"))),
    ...(device === undefined ? [] : labelFaults(device, where.child("device"))),
    ...validateTaint(taint, at.child("taint")),
  ];
}
