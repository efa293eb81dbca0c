/**
 * Updates of a pod: few fields are mutable.
 *
 * 1. Images, a shorter deadline, more tolerations, fewer scheduling gates; and while gates exist, narrower node
 *    selection.
 * 2. All other fields are compared as a whole, with the mutable fields set to their old values; the refusal shows the
 *    difference.
 */

import { internalForm, sameInternally, storedForm } from "../../../facts/index.ts";
import {
  allErrors,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  NO_ERRORS,
  required,
} from "../../../machinery/errors/field-error.ts";
import { equalJson } from "../../../machinery/json/equal.ts";
import type { Int64, Json } from "../../../machinery/json/json.ts";
import { jsonDiff } from "../../../machinery/json/json-diff.ts";
import { keepSentEmpty } from "../../../machinery/json/sent-empty.ts";
import type { Container, NodeAffinity, NodeSelectorTerm, Pod, PodSpec } from "../../../types/core-v1.ts";
import { imageSpaceFaults } from "../containers/containers.ts";
import { validateAnnotationChanges, validatePodAnnotations, validateProfilesAgree } from "../fields/annotations.ts";
import type { PodValidationOptions } from "../fields/validation-options.ts";
import { validateAddedTolerations, validateRemovedGates } from "../scheduling/scheduling.ts";
import { podOptions } from "../spec/options.ts";
import { validatePodSpec } from "../spec/spec.ts";
import { isKnownValid, isStrict, rememberValid } from "./valid-specs.ts";

const changeable = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
].join(",");
const longestDeadlineSeconds = 2 ** 31 - 1;
const needed = "requiredDuringSchedulingIgnoredDuringExecution";

export function specOf(pod: Pod): PodSpec {
  return pod.spec ?? { containers: [] };
}

/** Rules for every write of a pod that do not hold for templates. */
export function validateMetadataAndSpec(pod: Pod, at: FieldPath, options: PodValidationOptions): readonly FieldError[] {
  const spec = specOf(pod);
  const path = at.child("spec");
  const { annotations } = pod.metadata;
  return allErrors(
    annotations ? validatePodAnnotations(annotations, spec, at.child("metadata", "annotations"), options) : NO_ERRORS,
    validatePodSpec(spec, pod.metadata, path, options),
    spec.volumes && !spec.serviceAccountName ? tokenFaults(spec, path.child("volumes")) : NO_ERRORS,
    allImageSpaceFaults(spec.containers, path.child("containers")),
    spec.initContainers ? allImageSpaceFaults(spec.initContainers, path.child("initContainers")) : NO_ERRORS,
  );
}

function allImageSpaceFaults(containers: readonly Container[] | undefined, at: FieldPath): readonly FieldError[] {
  return (containers ?? []).flatMap((container, i) => imageSpaceFaults(container, at.index(i)));
}

function tokenFaults({ volumes = [] }: PodSpec, at: FieldPath): readonly FieldError[] {
  return volumes.flatMap(({ projected }, i) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }, j) => {
      if (serviceAccountToken === undefined) return [];
      const where = at.index(i).child("projected", "sources").index(j).child("serviceAccountToken");
      return [forbidden(where, "must not be specified when serviceAccountName is not set")];
    }),
  );
}

export function validatePodCreate(pod: Pod, at: FieldPath): readonly FieldError[] {
  const errors = newPodFaults(pod, at);
  if (errors.length === 0) rememberValid(pod);
  return errors;
}

function newPodFaults(pod: Pod, at: FieldPath): readonly FieldError[] {
  const spec = specOf(pod);
  const path = at.child("spec");
  return allErrors(
    validateMetadataAndSpec(pod, at, podOptions()),
    (spec.ephemeralContainers ?? []).length > 0
      ? [forbidden(path.child("ephemeralContainers"), "cannot be set on create")]
      : NO_ERRORS,
    spec.nodeName && (spec.schedulingGates ?? []).length > 0
      ? [forbidden(path.child("nodeName"), "cannot be set until all schedulingGates have been cleared")]
      : NO_ERRORS,
    validateProfilesAgree(pod.metadata.annotations, spec, path),
  );
}

export function validatePodUpdate(pod: Pod, old: Pod, at: FieldPath): readonly FieldError[] {
  const options = podOptions(old.spec, old.metadata);
  if (pod.spec === old.spec && isKnownValid(pod)) {
    const { annotations } = pod.metadata;
    return allErrors(
      annotations
        ? validatePodAnnotations(annotations, specOf(pod), at.child("metadata", "annotations"), options)
        : NO_ERRORS,
      validateAnnotationUpdate(pod, old, at, options),
    );
  }
  const errors = [
    ...validateMetadataAndSpec(pod, at, options),
    ...validateAnnotationUpdate(pod, old, at, options),
    ...validateSpecUpdate(specOf(pod), specOf(old), at.child("spec")),
  ];
  if (errors.length === 0 && isStrict(options)) rememberValid(pod);
  return errors;
}

export function validateAnnotationUpdate(
  pod: Pod,
  old: Pod,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  const path = at.child("metadata", "annotations");
  return [
    ...validateAnnotationChanges(pod.metadata.annotations, old.metadata.annotations, path),
    ...validatePodAnnotations(pod.metadata.annotations, specOf(pod), path, options),
  ];
}

function validateSpecUpdate(spec: PodSpec, old: PodSpec, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const list of ["containers", "initContainers"] as const) {
    const next = spec[list] ?? [];
    if (next.length !== (old[list] ?? []).length) {
      return [...errors, forbidden(at.child(list), "pod updates may not add or remove containers")];
    }
    errors.push(...next.flatMap((container, i) => imageFaults(container, at.child(list).index(i))));
  }
  const deadline = validateDeadline(
    spec.activeDeadlineSeconds,
    old.activeDeadlineSeconds,
    at.child("activeDeadlineSeconds"),
  );
  errors.push(...deadline);
  if (deadline.length > 0 && spec.activeDeadlineSeconds !== undefined) return errors;
  errors.push(...validateAddedTolerations(spec.tolerations ?? [], old.tolerations ?? [], at.child("tolerations")));
  errors.push(
    ...validateRemovedGates(spec.schedulingGates ?? [], old.schedulingGates ?? [], at.child("schedulingGates")),
  );
  // Most updates change labels and annotations: identical JSON needs no closer comparison.
  if (equalJson(spec as unknown as Json, old as unknown as Json)) return errors;
  let rest = withoutChangeable(spec, old);
  if ((old.schedulingGates ?? []).length > 0) {
    errors.push(...validateNarrowing(spec, old, at));
    rest = withOldNodeChoice(rest, old);
  }
  if (!sameInternally("core.v1.PodSpec", old, rest)) {
    const diff = jsonDiff(storedForm("core.v1.PodSpec", old), internalForm("core.v1.PodSpec", rest));
    errors.push(forbidden(at, `pod updates may not change fields other than ${changeable}\n${diff}`));
  }
  return errors;
}

function imageFaults(container: Container, at: FieldPath): readonly FieldError[] {
  return container.image ? imageSpaceFaults(container, at) : [required(at.child("image"))];
}

function validateDeadline(next: Int64 | undefined, old: Int64 | undefined, at: FieldPath): readonly FieldError[] {
  if (next === undefined)
    return old === undefined ? [] : [invalid(at, null, "must not update from a positive integer to nil value")];
  if (next < 0 || next > longestDeadlineSeconds)
    return [invalid(at, next, `must be between 0 and ${longestDeadlineSeconds}, inclusive`)];
  return old !== undefined && old < next ? [invalid(at, next, "must be less than or equal to previous value")] : [];
}

/** The new spec, with its mutable fields set to their old values. */
function withoutChangeable(spec: PodSpec, old: PodSpec): PodSpec {
  const wasNegative = (old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1;
  return changedIn(spec, {
    containers: withImagesOf(spec.containers ?? [], old.containers ?? []),
    ...(spec.initContainers === undefined
      ? {}
      : { initContainers: withImagesOf(spec.initContainers, old.initContainers ?? []) }),
    ...taken(old, [
      "activeDeadlineSeconds",
      "schedulingGates",
      "tolerations",
      ...(wasNegative ? ["terminationGracePeriodSeconds"] : []),
    ]),
  });
}

function changedIn<T extends object>(whole: T, parts: Partial<T>): T {
  const changed = { ...whole, ...parts };
  keepSentEmpty(whole, changed);
  return changed;
}

function withImagesOf(next: readonly Container[], old: readonly Container[]): readonly Container[] {
  return next.map((container, i) => changedIn(container, taken(old[i] ?? {}, ["image"])));
}

/** The named fields of an object; absent ones stay absent. */
function taken(from: object, names: readonly string[]): Record<string, never> {
  const source: Readonly<Record<string, unknown>> = { ...from };
  return Object.fromEntries(names.map((name) => [name, source[name]])) as Record<string, never>;
}

function withOldNodeChoice(spec: PodSpec, old: PodSpec): PodSpec {
  const { nodeAffinity: _, ...others } = spec.affinity ?? {};
  const before = old.affinity?.nodeAffinity;
  const affinity = before === undefined ? others : { ...others, nodeAffinity: before };
  const none = Object.keys(affinity).length === 0 && old.affinity === undefined;
  return {
    ...spec,
    ...taken(old, ["nodeSelector"]),
    ...taken({ affinity: none ? undefined : affinity }, ["affinity"]),
  };
}

function validateNarrowing(spec: PodSpec, old: PodSpec, at: FieldPath): readonly FieldError[] {
  const selector = spec.nodeSelector ?? {};
  const errors: FieldError[] = [];
  if (Object.entries(old.nodeSelector ?? {}).some(([key, value]) => selector[key] !== value)) {
    const why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
    errors.push(invalid(at.child("nodeSelector"), selector, why));
  }
  return [
    ...errors,
    ...validateNodeAffinityChange(
      spec.affinity?.nodeAffinity,
      old.affinity?.nodeAffinity,
      at.child("affinity", "nodeAffinity"),
    ),
  ];
}

function validateNodeAffinityChange(
  next: NodeAffinity | undefined,
  old: NodeAffinity | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const before = old?.[needed]?.nodeSelectorTerms ?? [];
  const after = next?.[needed]?.nodeSelectorTerms ?? [];
  const path = at.child(needed, "nodeSelectorTerms");
  const shown = (terms: readonly NodeSelectorTerm[]): readonly Json[] =>
    terms.map((term) => internalForm("core.v1.NodeSelectorTerm", term));
  if (before.length === 0) return [];
  if (before.length !== after.length) {
    const list = after.length === 0 ? null : shown(after);
    return [invalid(path, list, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")];
  }
  return after.flatMap((term, i) => {
    if (hasOnlyAdditions(term, before[i] ?? {})) return [];
    return [invalid(path.index(i), shown([term])[0] ?? null, "only additions are allowed (no mutations or deletions)")];
  });
}

function hasOnlyAdditions(next: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const parts = ["matchExpressions", "matchFields"] as const;
  const count = (term: NodeSelectorTerm) => parts.reduce((sum, part) => sum + (term[part] ?? []).length, 0);
  if (count(old) === 0) return count(next) === 0;
  return parts.every((part) => {
    const before = old[part] ?? [];
    return equalJson((next[part] ?? []).slice(0, before.length) as unknown as Json, before as unknown as Json);
  });
}
