/** What PodGroup and the templates of a Workload share. */
import { requireFits } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid, required } from "../machinery/errors/field-error.ts";
import { checkDns1123Label } from "../machinery/names/names.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { PodGroupSchedulingPolicy, PodGroupTemplate } from "../types/scheduling-v1alpha2.ts";

/**
 * Fields of the feature gates TopologyAwareWorkloadScheduling, DRAWorkloadResourceClaims and WorkloadAwarePreemption,
 * which are off by default.
 */
const GATED = ["schedulingConstraints", "resourceClaims", "disruptionMode", "priorityClassName", "priority"] as const;
type Gated = Pick<PodGroupTemplate, (typeof GATED)[number]>;

/** Drops what the old object does not have either. `always`: fields that are null, not absent, without a value. */
export function dropGated(draft: Draft<Gated>, old: Gated | undefined, always: readonly (keyof Gated)[] = []): void {
  for (const name of GATED) {
    if ((old?.[name] ?? undefined) !== undefined) continue;
    if (always.includes(name)) Object.assign(draft, { [name]: null });
    else delete draft[name];
  }
}

export function validatePolicy(policy: PodGroupSchedulingPolicy | undefined, at: FieldPath): readonly FieldError[] {
  const { basic, gang } = policy ?? {};
  if (basic !== undefined && gang !== undefined) {
    const why = "exactly one of `basic`, `gang` is required, but multiple fields are set";
    return [invalid(at, "{`basic`, `gang`}", why)];
  }
  if (basic === undefined && gang === undefined) return [invalid(at, "", "must specify one of: `basic`, `gang`")];
  if (gang === undefined) return [];
  const { minCount } = gang;
  if (!minCount) return [required(at.child("gang", "minCount"))];
  return minCount > 0 ? [] : [invalid(at.child("gang", "minCount"), minCount, "must be greater than zero")];
}

/** A name in the form of a label. */
export function shortNameFaults(name: string | undefined, at: FieldPath): readonly FieldError[] {
  return requireFits(checkDns1123Label, name, at);
}
