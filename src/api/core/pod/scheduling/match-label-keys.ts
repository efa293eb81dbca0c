/**
 * `matchLabelKeys` and `mismatchLabelKeys`: selectors that follow the pod's own labels.
 *
 * 1. When a pod is created, its values for these keys are merged into the selector.
 * 2. Validation runs after that: a key of `matchLabelKeys` that stands in the selector twice was also written by the
 *    client.
 */

import { fits } from "../../../definition/field-checks.ts";
import { type FieldError, type FieldPath, forbidden, invalid } from "../../../machinery/errors/field-error.ts";
import type { LabelSelector } from "../../../machinery/names/labels.ts";
import { checkQualifiedName } from "../../../machinery/names/names.ts";
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Pod, PodAffinity, PodAffinityTerm, TopologySpreadConstraint } from "../../../types/core-v1.ts";

interface Following {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

const noSelector = "must not be specified when labelSelector is not set";
const twice = "exists in both matchLabelKeys and labelSelector";

export function mergeMatchLabelKeys({ metadata, spec }: Draft<Pod>): void {
  const labels = metadata.labels ?? {};
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  for (const side of [podAffinity, podAntiAffinity])
    if (side !== undefined) for (const term of affinityTerms(side)) merge(term, labels);
  for (const constraint of spec?.topologySpreadConstraints ?? []) merge(constraint, labels);
}

function affinityTerms(side: Draft<PodAffinity>): readonly Draft<PodAffinityTerm>[] {
  return [
    ...(side.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((weighted) => weighted.podAffinityTerm),
    ...(side.requiredDuringSchedulingIgnoredDuringExecution ?? []),
  ];
}

function merge(
  following: Draft<PodAffinityTerm> | Draft<TopologySpreadConstraint>,
  labels: Readonly<Record<string, string>>,
): void {
  const { labelSelector, matchLabelKeys = [] } = following;
  if (labelSelector === undefined) return;
  const add = (keys: readonly string[], operator: "In" | "NotIn") => {
    for (const key of keys) {
      const value = labels[key];
      if (value === undefined) continue;
      labelSelector.matchExpressions = [...(labelSelector.matchExpressions ?? []), { key, operator, values: [value] }];
    }
  };
  add(matchLabelKeys, "In");
  if ("mismatchLabelKeys" in following) add(following.mismatchLabelKeys ?? [], "NotIn");
}

export function validateMatchLabelKeys(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: Following,
  at: FieldPath,
): readonly FieldError[] {
  const errors = [
    ...validateKeys(matchLabelKeys, labelSelector, at.child("matchLabelKeys")),
    ...validateKeys(mismatchLabelKeys, labelSelector, at.child("mismatchLabelKeys")),
  ];
  const seen = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  for (const { key } of labelSelector?.matchExpressions ?? []) {
    const i = matchLabelKeys.lastIndexOf(key);
    if (i >= 0 && seen.has(key)) errors.push(invalid(at.index(i), key, twice));
    seen.add(key);
  }
  for (const [i, key] of matchLabelKeys.entries()) {
    if (!mismatchLabelKeys.includes(key)) continue;
    errors.push(
      invalid(at.child("matchLabelKeys").index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys"),
    );
  }
  return errors;
}

function validateKeys(
  keys: readonly string[],
  selector: LabelSelector | undefined,
  at: FieldPath,
): readonly FieldError[] {
  if (keys.length === 0) return [];
  if (selector === undefined) return [forbidden(at, noSelector)];
  return keys.flatMap((key, i) => fits(checkQualifiedName, key, at.index(i)));
}

/** For constraints from before the merge: the selector must not contain the keys. */
export function validateUnmergedKeys(
  { labelSelector, matchLabelKeys = [] }: Following,
  at: FieldPath,
): readonly FieldError[] {
  if (matchLabelKeys.length === 0) return [];
  const taken = new Set([
    ...Object.keys(labelSelector?.matchLabels ?? {}),
    ...(labelSelector?.matchExpressions ?? []).map(({ key }) => key),
  ]);
  const errors: FieldError[] = labelSelector === undefined ? [forbidden(at, noSelector)] : [];
  for (const [i, key] of matchLabelKeys.entries()) {
    errors.push(...fits(checkQualifiedName, key, at.index(i)));
    if (taken.has(key)) errors.push(invalid(at.index(i), key, twice));
  }
  return errors;
}
