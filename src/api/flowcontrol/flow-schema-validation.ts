/** Validation of FlowSchemas. */
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../machinery/errors/field-error.ts";
import { checkDns1123Label, checkDns1123Subdomain } from "../machinery/names/names.ts";
import type {
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
} from "../types/flowcontrol-v1.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const methods = ["ByNamespace", "ByUser"];

export function validateFlowSchema({ metadata, spec }: FlowSchema, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec");
  const errors: FieldError[] = [];
  const precedence = spec?.matchingPrecedence ?? 0;
  const complain = (why: string) => errors.push(invalid(where.child("matchingPrecedence"), precedence, why));
  if (precedence <= 0) complain("must be a positive value");
  if (precedence > 10000) complain("must not be greater than 10000");
  if (precedence === 1 && metadata.name !== "exempt")
    complain("only the schema named 'exempt' may have matchingPrecedence 1");
  const method = spec?.distinguisherMethod;
  if (method !== undefined && !methods.includes(method.type)) {
    errors.push(notSupported(where.child("distinguisherMethod", "type"), { Type: method.type }, methods));
  }
  const level = spec?.priorityLevelConfiguration.name ?? "";
  const levelPath = where.child("priorityLevelConfiguration", "name");
  if (level === "") errors.push(required(levelPath, "must reference a priority level"));
  else for (const why of checkDns1123Subdomain(level)) errors.push(invalid(levelPath, level, why));
  for (const [i, rule] of (spec?.rules ?? []).entries())
    errors.push(...validateRule(rule, where.child("rules").index(i)));
  return errors;
}

function validateRule(rule: PolicyRulesWithSubjects, path: FieldPath): readonly FieldError[] {
  const { subjects, resourceRules = [], nonResourceRules = [] } = rule;
  const errors: FieldError[] = [];
  if ((subjects ?? []).length === 0)
    errors.push(required(path.child("subjects"), "subjects must contain at least one value"));
  for (const [i, subject] of (subjects ?? []).entries())
    errors.push(...validateSubject(subject, path.child("subjects").index(i)));
  if (resourceRules.length + nonResourceRules.length === 0) {
    errors.push(required(path, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  }
  for (const [i, one] of resourceRules.entries())
    errors.push(...validateResources(one, path.child("resourceRules").index(i)));
  for (const [i, one] of nonResourceRules.entries())
    errors.push(...validateUrls(one, path.child("nonResourceRules").index(i)));
  return errors;
}

function validateSubject(subject: Subject, path: FieldPath): readonly FieldError[] {
  const fields = { ServiceAccount: "serviceAccount", User: "user", Group: "group" } as const;
  if (!Object.hasOwn(fields, subject.kind))
    return [notSupported(path.child("kind"), subject.kind, ["Group", "ServiceAccount", "User"])];
  const own = fields[subject.kind as keyof typeof fields];
  const errors: FieldError[] = [];
  if (subject[own] === undefined) {
    errors.push(required(path.child(own), `${own} is required when subject kind is '${subject.kind}'`));
  } else if (subject.serviceAccount !== undefined && own === "serviceAccount") {
    errors.push(...validateServiceAccount(subject.serviceAccount, path.child(own)));
  } else if (subject[own].name === "") {
    errors.push(required(path.child(own, "name")));
  }
  for (const [kind, field] of Object.entries(fields)) {
    if (field !== own && subject[field] !== undefined) {
      errors.push(forbidden(path.child(field), `${field} is forbidden when subject kind is not '${kind}'`));
    }
  }
  return errors;
}

function validateServiceAccount({ name, namespace }: ServiceAccountSubject, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (name === "") errors.push(required(path.child("name")));
  else if (name !== "*")
    for (const why of checkDns1123Subdomain(name)) errors.push(invalid(path.child("name"), name, why));
  if (namespace === "") errors.push(required(path.child("namespace"), "must specify namespace for service account"));
  else for (const why of checkDns1123Label(namespace)) errors.push(invalid(path.child("namespace"), namespace, why));
  return errors;
}

function validateResources(rule: ResourcePolicyRule, path: FieldPath): readonly FieldError[] {
  const errors = [
    ...validateVerbs(rule.verbs ?? [], path.child("verbs")),
    ...listFaults(
      rule.apiGroups ?? [],
      path.child("apiGroups"),
      "api groups",
      "resource rules must supply at least one api group",
    ),
    ...listFaults(
      rule.resources ?? [],
      path.child("resources"),
      "resources",
      "resource rules must supply at least one resource",
    ),
  ];
  const namespaces = rule.namespaces ?? [];
  const where = path.child("namespaces");
  if (namespaces.length === 0 && rule.clusterScope !== true) {
    errors.push(required(where, "resource rules that are not cluster scoped must supply at least one namespace"));
  } else if (namespaces.includes("*")) {
    errors.push(...listFaults(namespaces, where, "namespaces", ""));
  } else {
    for (const [i, namespace] of namespaces.entries()) {
      for (const why of checkDns1123Label(namespace)) errors.push(invalid(where.index(i), namespace, why));
    }
  }
  return errors;
}

function validateUrls({ verbs, nonResourceURLs }: NonResourcePolicyRule, path: FieldPath): readonly FieldError[] {
  const urls = nonResourceURLs ?? [];
  const where = path.child("nonResourceURLs");
  return [
    ...validateVerbs(verbs ?? [], path.child("verbs")),
    ...listFaults(urls, where, "non-resource URLs", "nonResourceURLs must contain at least one value"),
    ...(urls.includes("*") ? [] : urls.flatMap((url, i) => urlFaults(url, where.index(i)))),
  ];
}

function urlFaults(url: string, where: FieldPath): readonly FieldError[] {
  if (url === "") return [invalid(where, url, "must not be empty")];
  if (url === "/") return [];
  if (!url.startsWith("/")) return [invalid(where, url, "must start with slash")];
  if (url.includes(" ")) return [invalid(where, url, "must not contain white-space")];
  if (url.includes("//")) return [invalid(where, url, "must not contain double slash")];
  const star = url.indexOf("*");
  if (star >= 0 && (star !== url.length - 1 || !url.endsWith("/*"))) {
    return [invalid(where, url, "wildcard can only do suffix matching")];
  }
  return [];
}

function validateVerbs(given: readonly string[], path: FieldPath): readonly FieldError[] {
  const faults = listFaults(given, path, "verbs", "verbs must contain at least one value");
  if (faults.length > 0 || given.includes("*") || given.every((verb) => verbs.includes(verb))) return faults;
  return [notSupported(path, given, verbs)];
}

/** `*` matches all and must stand alone. */
function listFaults(given: readonly string[], path: FieldPath, what: string, whenEmpty: string): readonly FieldError[] {
  if (given.length === 0) return [required(path, whenEmpty)];
  if (given.includes("*") && given.length > 1)
    return [invalid(path, given, `if '*' is present, must not specify other ${what}`)];
  return [];
}
