/**
 * Which requests the rules of a webhook or policy match.
 *
 * 1. Everything but the names of objects depends on resource, subresource and operation alone, and is decided once for
 *    these.
 * 2. Rules that match the resource of the request come before rules that match an equivalent.
 */
import type { admissionregistration } from "#api";
import type { Resources } from "../../rest/resources.ts";
import type { Operation } from "../chain/plugin.ts";
import { equivalentsOf, isNamespaces, type Target } from "./target.ts";

type Rule = admissionregistration.NamedRuleWithOperations;

/** A rule that matches a resource, subresource and operation, and the version of the resource that it names. */
export interface Choice {
  readonly target: Target;
  /** Only these objects. Empty: all. */
  readonly names: readonly string[];
}

export function choices(
  rules: readonly Rule[],
  matchPolicy: string | undefined,
  target: Target,
  operation: Operation,
  resources: Resources,
): readonly Choice[] {
  const found: Choice[] = [];
  const consider = (rule: Rule, candidate: Target) => {
    if (isAboutTarget(rule, candidate, operation)) found.push({ target: candidate, names: rule.resourceNames ?? [] });
  };
  for (const rule of rules) consider(rule, target);
  if (matchPolicy === "Equivalent" && !found.some(({ names }) => names.length === 0)) {
    const equivalents = equivalentsOf(target, resources);
    for (const rule of rules) for (const equivalent of equivalents) consider(rule, equivalent);
  }
  return found;
}

/** The version of the first rule that matches an object of this name. */
export function chosen(all: readonly Choice[], name: string): Target | undefined {
  return all.find(({ names }) => names.length === 0 || names.includes(name))?.target;
}

export function isAboutTarget(rule: Rule, { resource, subresource }: Target, operation: Operation): boolean {
  const { group, version, names } = resource.kind;
  return (
    isInScope(rule.scope, resource) &&
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, group) &&
    includes(rule.apiVersions, version) &&
    (rule.resources ?? []).some((pattern) => isAboutResource(pattern, names.plural, subresource))
  );
}

function includes(items: readonly string[] | undefined, wanted: string): boolean {
  return items?.some((item) => item === "*" || item === wanted) === true;
}

function isAboutResource(pattern: string, plural: string, subresource: string): boolean {
  const slash = pattern.indexOf("/");
  const [resource, part] = slash < 0 ? [pattern, ""] : [pattern.slice(0, slash), pattern.slice(slash + 1)];
  return (resource === "*" || resource === plural) && (part === "*" || part === subresource);
}

function isInScope(scope: Rule["scope"], resource: Target["resource"]): boolean {
  if (scope === undefined || scope === "*") return true;
  const namespaced = resource.kind.scope === "Namespaced" && !isNamespaces(resource);
  return scope === (namespaced ? "Namespaced" : "Cluster");
}
