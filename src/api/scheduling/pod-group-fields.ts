/** What PodGroup and the templates of a Workload share. */
import { requireFits } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid, required, tooMany } from "../machinery/errors/field-error.ts";
import { checkDns1123Label, checkQualifiedName } from "../machinery/names/names.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type {
  PodGroupSchedulingConstraints,
  PodGroupSchedulingPolicy,
  PodGroupTemplate,
} from "../types/scheduling-v1alpha2.ts";

const MOST_TOPOLOGIES = 1;

/** Of the gate DRAWorkloadResourceClaims, which has no effect here. `old`: what is stored stays. */
export function dropClaims(
  draft: Draft<Pick<PodGroupTemplate, "resourceClaims">>,
  old: Pick<PodGroupTemplate, "resourceClaims"> | undefined,
): void {
  if (old?.resourceClaims === undefined) delete draft.resourceClaims;
}

/** One level at most. */
export function validateTopology(
  constraints: PodGroupSchedulingConstraints | null | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const topology = constraints?.topology ?? [];
  const where = at.child("topology");
  if (topology.length > MOST_TOPOLOGIES) return [tooMany(where, topology.length, MOST_TOPOLOGIES)];
  return topology.flatMap(({ key }, i) => requireFits(checkQualifiedName, key, where.index(i).child("key")));
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
