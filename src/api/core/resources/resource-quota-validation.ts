/** The resources and scopes of a quota. */
import { table } from "#base";
import { internalForm } from "../../facts/index.ts";
import { type FieldError, type FieldPath, invalid, required } from "../../machinery/errors/field-error.ts";
import type { Json } from "../../machinery/json/json.ts";
import type { ResourceQuota, ResourceQuotaSpec, ScopedResourceSelectorRequirement } from "../../types/core-v1.ts";
import { quantityFaults } from "./resource-list.ts";
import { isStandardQuotaResource, quotaResourceNameFaults } from "./standard-resources.ts";

/** Of the pairs of scopes and resources that do not go together, so many are reported. */
const maxMismatches = 1_000;
const ofPods = new Set(["pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"]);
const ofScope: Readonly<Record<string, ReadonlySet<string>>> = table({
  Terminating: ofPods,
  NotTerminating: ofPods,
  NotBestEffort: ofPods,
  PriorityClass: ofPods,
  CrossNamespacePodAffinity: ofPods,
  BestEffort: new Set(["pods"]),
  VolumeAttributesClass: new Set(["persistentvolumeclaims", "requests.storage"]),
});
const opposites = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;
const mismatch = "unsupported scope applied to resource";

export function validateQuota({ spec = {} }: ResourceQuota, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec");
  return [
    ...amountFaults(spec.hard, where.child("hard")),
    ...validateScopes(spec, where),
    ...validateSelector(spec, where),
  ];
}

export function validateQuotaUpdate(next: ResourceQuota, old: ResourceQuota, path: FieldPath): readonly FieldError[] {
  const [before, after] = [new Set<string>(old.spec?.scopes), new Set<string>(next.spec?.scopes)];
  if (before.size === after.size && [...before].every((scope) => after.has(scope))) return [];
  return [invalid(path.child("spec", "scopes"), next.spec?.scopes ?? null, "field is immutable")];
}

export function validateQuotaStatus(
  { status }: ResourceQuota,
  _old: ResourceQuota,
  path: FieldPath,
): readonly FieldError[] {
  const where = path.child("status");
  return [...amountFaults(status?.hard, where.child("hard")), ...amountFaults(status?.used, where.child("used"))];
}

function amountFaults(amounts: Readonly<Record<string, string>> | undefined, path: FieldPath): readonly FieldError[] {
  return Object.entries(amounts ?? {}).flatMap(([name, amount]) => [
    ...quotaResourceNameFaults(name, path.key(name)),
    ...quantityFaults(name, amount, path.key(name)),
  ]);
}

function validateScopes({ hard, scopes = [] }: ResourceQuotaSpec, path: FieldPath): readonly FieldError[] {
  const where = path.child("scopes");
  const standard = Object.keys(hard ?? {}).filter(isStandardQuotaResource);
  const errors: FieldError[] = [];
  for (const scope of scopes) {
    if (!Object.hasOwn(ofScope, scope)) errors.push(invalid(where, scopes, "unsupported scope"));
    if (errors.length > maxMismatches) break;
    for (const name of standard) if (!suits(scope, name)) errors.push(invalid(where, scopes, mismatch));
  }
  for (const [one, other] of opposites) {
    if (scopes.includes(one) && scopes.includes(other)) errors.push(invalid(where, scopes, "conflicting scopes"));
  }
  return errors;
}

function validateSelector({ hard, scopes, scopeSelector }: ResourceQuotaSpec, path: FieldPath): readonly FieldError[] {
  const expressions = scopeSelector?.matchExpressions ?? [];
  const at = path.child("scopeSelector", "matchExpressions");
  const standard = Object.keys(hard ?? {}).filter(isStandardQuotaResource);
  let form: Json | undefined;
  const shown = () => {
    form ??= internalForm("core.v1.ScopeSelector", scopeSelector ?? {});
    return form;
  };
  const errors: FieldError[] = [];
  for (const expression of expressions) {
    if (!Object.hasOwn(ofScope, expression.scopeName))
      errors.push(invalid(at.child("scopeName"), expression.scopeName, "unsupported scope"));
    if (errors.length > maxMismatches) break;
    for (const name of standard) {
      if (!suits(expression.scopeName, name)) errors.push(invalid(at, shown(), mismatch));
    }
    errors.push(...validateExpression(expression, at));
  }
  const names = expressions.map(({ scopeName }) => scopeName as string);
  for (const [one, other] of opposites) {
    if (names.includes(one) && names.includes(other)) errors.push(invalid(at, scopes ?? null, "conflicting scopes"));
  }
  return errors;
}

function validateExpression(
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const bare = ["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"];
  if (bare.includes(scopeName) && operator !== "Exists") {
    const why =
      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
    errors.push(invalid(path.child("operator"), operator, why));
  }
  if (operator === "In" || operator === "NotIn") {
    const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    if (values.length === 0) errors.push(required(path.child("values"), why));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    if (values.length > 0) errors.push(invalid(path.child("values"), values, why));
  } else {
    errors.push(invalid(path.child("operator"), operator, "not a valid selector operator"));
  }
  return errors;
}

function suits(scope: string, resource: string): boolean {
  return !Object.hasOwn(ofScope, scope) || ofScope[scope]?.has(resource) === true;
}
