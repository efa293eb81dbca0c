/** Node affinity, pod affinity and pod anti-affinity. */

import { fits } from "../../../definition/field-checks.ts";
import {
  allErrors,
  type FieldError,
  type FieldPath,
  invalid,
  NO_ERRORS,
  required,
} from "../../../machinery/errors/field-error.ts";
import { type LabelSelector, validateLabelSelector } from "../../../machinery/names/labels.ts";
import { checkDns1123Label, checkQualifiedName } from "../../../machinery/names/names.ts";
import type { Affinity, NodeAffinity, PodAffinity, PodAffinityTerm } from "../../../types/core-v1.ts";
import { validateNodeSelector, validateNodeSelectorTerm } from "../../node/node-selector.ts";
import type { PodValidationOptions } from "../fields/validation-options.ts";
import { validateMatchLabelKeys } from "./match-label-keys.ts";

const requiredTerms = "requiredDuringSchedulingIgnoredDuringExecution";
const preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution";

export function validateAffinity(
  affinity: Affinity | undefined,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  if (affinity === undefined) return NO_ERRORS;
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  return allErrors(
    nodeAffinity ? validateNodeAffinity(nodeAffinity, at.child("nodeAffinity"), options) : NO_ERRORS,
    podAffinity ? validatePodAffinity(podAffinity, at.child("podAffinity"), options) : NO_ERRORS,
    podAntiAffinity ? validatePodAffinity(podAntiAffinity, at.child("podAntiAffinity"), options) : NO_ERRORS,
  );
}

/** Values of preferred terms are not validated. */
function validateNodeAffinity(
  affinity: NodeAffinity,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  const needed = affinity[requiredTerms];
  const errors =
    needed === undefined
      ? []
      : [...validateNodeSelector(needed, at.child(requiredTerms), options.allowInvalidNodeAffinity)];
  for (const [i, { weight, preference }] of (affinity[preferredTerms] ?? []).entries()) {
    const path = at.child(preferredTerms).index(i);
    errors.push(
      ...validateWeight(weight, path),
      ...validateNodeSelectorTerm(preference, path.child("preference"), true),
    );
  }
  return errors;
}

function validatePodAffinity(
  affinity: PodAffinity,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, term] of (affinity[requiredTerms] ?? []).entries()) {
    errors.push(...validatePodTerm(term, at.child(requiredTerms).index(i), options));
  }
  for (const [i, { weight, podAffinityTerm }] of (affinity[preferredTerms] ?? []).entries()) {
    const path = at.child(preferredTerms).index(i);
    errors.push(
      ...validateWeight(weight, path),
      ...validatePodTerm(podAffinityTerm, path.child("podAffinityTerm"), options),
    );
  }
  return errors;
}

function validatePodTerm(term: PodAffinityTerm, at: FieldPath, options: PodValidationOptions): readonly FieldError[] {
  const anyValue = options.allowInvalidAffinitySelector;
  const errors = [
    ...validateSelector(term.labelSelector, at.child("labelSelector"), anyValue),
    ...validateSelector(term.namespaceSelector, at.child("namespaceSelector"), anyValue),
    ...(term.namespaces ?? []).flatMap((name) => fits(checkDns1123Label, name, at.child("namespace"))),
    ...validateMatchLabelKeys(term, at),
  ];
  if (!term.topologyKey) errors.push(required(at.child("topologyKey"), "can not be empty"));
  return [...errors, ...fits(checkQualifiedName, term.topologyKey ?? "", at.child("topologyKey"))];
}

function validateSelector(
  selector: LabelSelector | undefined,
  at: FieldPath,
  anyValue: boolean,
): readonly FieldError[] {
  return validateLabelSelector(anyValue ? withoutValues(selector) : selector, at);
}

/** An empty value is always valid. */
function withoutValues(selector: LabelSelector | undefined): LabelSelector | undefined {
  if (selector === undefined) return undefined;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return {
    matchLabels: Object.fromEntries(Object.keys(matchLabels).map((key) => [key, ""])),
    matchExpressions: matchExpressions.map((one) => ({ ...one, values: (one.values ?? []).map(() => "") })),
  };
}

function validateWeight(weight: number, at: FieldPath): readonly FieldError[] {
  return weight >= 1 && weight <= 100 ? [] : [invalid(at.child("weight"), weight, "must be in the range 1-100")];
}
