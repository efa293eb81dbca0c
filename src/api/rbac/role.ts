/** Role and ClusterRole. The server checks escalation. */
import { defineKind } from "../definition/define-kind.ts";
import { type FieldError, type FieldPath, invalid, required } from "../machinery/errors/field-error.ts";
import { validateLabelSelector } from "../machinery/names/labels.ts";
import { checkPathSegmentName } from "../machinery/names/names.ts";
import type { ClusterRole as ClusterRoleObject, PolicyRule, Role as RoleObject } from "../types/rbac-v1.ts";

export const Role = defineKind<RoleObject>("rbac.authorization.k8s.io/v1", "Role", {
  validateName: checkPathSegmentName,
  update: { allowCreate: true },
  validate: ({ rules }, path) => validateRules(rules ?? [], true, path),
});

export const ClusterRole = defineKind<ClusterRoleObject>("rbac.authorization.k8s.io/v1", "ClusterRole", {
  validateName: checkPathSegmentName,
  update: { allowCreate: true },
  validate: ({ rules, aggregationRule }, path) => [
    ...validateRules(rules ?? [], false, path),
    ...validateAggregation(aggregationRule, path.child("aggregationRule")),
  ],
});

function validateRules(rules: readonly PolicyRule[], namespaced: boolean, path: FieldPath): readonly FieldError[] {
  return rules.flatMap((rule, i) => validateRule(rule, namespaced, path.child("rules").index(i)));
}

function validateRule(rule: PolicyRule, namespaced: boolean, path: FieldPath): readonly FieldError[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const errors: FieldError[] = [];
  if ((verbs ?? []).length === 0) errors.push(required(path.child("verbs"), "verbs must contain at least one value"));
  if (nonResourceURLs.length > 0) {
    const where = path.child("nonResourceURLs");
    if (namespaced) errors.push(invalid(where, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs"));
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      errors.push(
        invalid(where, nonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs"),
      );
    }
    return errors;
  }
  if (apiGroups.length === 0)
    errors.push(required(path.child("apiGroups"), "resource rules must supply at least one api group"));
  if (resources.length === 0)
    errors.push(required(path.child("resources"), "resource rules must supply at least one resource"));
  return errors;
}

function validateAggregation(rule: ClusterRoleObject["aggregationRule"], path: FieldPath): readonly FieldError[] {
  if (rule === undefined) return [];
  const selectors = rule.clusterRoleSelectors ?? [];
  const where = path.child("clusterRoleSelectors");
  if (selectors.length === 0) {
    return [required(where, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
  }
  return selectors.flatMap((selector, i) => {
    const errors = validateLabelSelector(selector, where.index(i));
    // What cannot be compiled is printed as the nil that compiling it gives.
    return errors.length === 0 ? errors : [...errors, invalid(where.index(i), null, "invalid label selector.")];
  });
}
