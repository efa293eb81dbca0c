/** A Policy of audit.k8s.io/v1 in a file, checked field by field. Unknown fields are reported and dropped. */
import { at, checkDns1123Subdomain, type FieldError, type FieldPath, field, type Json, type JsonObject } from "#api";
import { documentOf, listOf, objectOf } from "../configuration/document.ts";
import { type GroupResources, LEVELS, type Level, type Policy, type PolicyRule, STAGES, type Stage } from "./policy.ts";

/** A file or a flag of audit is not valid. */
export class AuditConfigError extends Error {
  override readonly name = "AuditConfigError";
}

const API_VERSION = "audit.k8s.io/v1";
const POLICY_FIELDS = ["kind", "apiVersion", "metadata", "rules", "omitStages", "omitManagedFields"];
const RULE_FIELDS = [
  "level",
  "users",
  "userGroups",
  "verbs",
  "resources",
  "namespaces",
  "nonResourceURLs",
  "omitStages",
  "omitManagedFields",
];

export interface ParsedPolicy {
  readonly policy: Policy;
  readonly warnings: readonly string[];
}

export function parsePolicy(text: string, file: string): ParsedPolicy {
  const document = documentOf(text, file, AuditConfigError);
  if (document.kind !== "Policy" || document.apiVersion !== API_VERSION)
    throw new AuditConfigError(`${file}: a Policy of ${API_VERSION} is needed.`);
  const errors: FieldError[] = [];
  const warnings: string[] = [];
  const reader = { errors, warnings };
  knownFields(document, POLICY_FIELDS, "", warnings);
  const rules = listOf(document.rules).map((rule, i) => ruleOf(objectOf(rule), at("rules").index(i), reader));
  const omitStages = stagesOf(document.omitStages, at("omitStages"), errors);
  if (errors.length > 0) throw new AuditConfigError(`${file}: ${errors.map(field.fieldErrorText).join("; ")}.`);
  if (rules.length === 0) throw new AuditConfigError(`${file}: a policy needs at least one rule.`);
  return { policy: { rules, omitStages, omitManagedFields: document.omitManagedFields === true }, warnings };
}

interface Findings {
  readonly errors: FieldError[];
  readonly warnings: string[];
}

function ruleOf(rule: JsonObject, path: FieldPath, { errors, warnings }: Findings): PolicyRule {
  knownFields(rule, RULE_FIELDS, `${path}.`, warnings);
  const texts = (name: string) => textsOf(rule[name], path.child(name), errors);
  const level = levelOf(rule.level, path.child("level"), errors);
  const nonResourceURLs = texts("nonResourceURLs");
  for (const [i, url] of nonResourceURLs.entries()) urlFaults(url, path.child("nonResourceURLs").index(i), errors);
  const resources = listOf(rule.resources).map((one) => resourcesOf(objectOf(one), path.child("resources"), errors));
  const namespaces = texts("namespaces");
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    const why = "rules cannot apply to both regular resources and non-resource URLs";
    errors.push(field.invalid(path.child("nonResourceURLs"), nonResourceURLs, why));
  }
  const { omitManagedFields } = rule;
  return {
    level,
    users: texts("users"),
    userGroups: texts("userGroups"),
    verbs: texts("verbs"),
    resources,
    namespaces,
    nonResourceURLs,
    omitStages: stagesOf(rule.omitStages, path.child("omitStages"), errors),
    omitManagedFields: typeof omitManagedFields === "boolean" ? omitManagedFields : undefined,
  };
}

function levelOf(value: Json | undefined, path: FieldPath, errors: FieldError[]): Level {
  const known = LEVELS.find((level) => level === value);
  if (known !== undefined) return known;
  if (value === undefined || value === null || value === "") errors.push(field.required(path));
  else errors.push(field.notSupported(path, String(value), LEVELS));
  return "None";
}

function stagesOf(value: Json | undefined, path: FieldPath, errors: FieldError[]): readonly Stage[] {
  return textsOf(value, path, errors).flatMap((text, i) => {
    const known = STAGES.find((stage) => stage === text);
    if (known === undefined) errors.push(field.invalid(path.index(i), text, `allowed stages are ${STAGES.join(",")}`));
    return known ?? [];
  });
}

function resourcesOf(value: JsonObject, path: FieldPath, errors: FieldError[]): GroupResources {
  const group = typeof value.group === "string" ? value.group : "";
  const resources = textsOf(value.resources, path.child("resources"), errors);
  const resourceNames = textsOf(value.resourceNames, path.child("resourceNames"), errors);
  const faults = group === "" || group === "*" ? [] : checkDns1123Subdomain(group);
  if (faults.length > 0) errors.push(field.invalid(path.child("group"), group, faults.join(",")));
  if (resourceNames.length > 0 && resources.length === 0) {
    const why = "using resourceNames requires at least one resource";
    errors.push(field.invalid(path.child("resourceNames"), resourceNames, why));
  }
  return { group, resources, resourceNames };
}

function urlFaults(url: string, path: FieldPath, errors: FieldError[]): void {
  if (url === "*") return;
  if (!url.startsWith("/"))
    errors.push(field.invalid(path, url, "non-resource URL rules must begin with a '/' character"));
  if (url.slice(0, -1).includes("*"))
    errors.push(field.invalid(path, url, "non-resource URL wildcards '*' must be the final character of the rule"));
}

function knownFields(object: JsonObject, known: readonly string[], prefix: string, warnings: string[]): void {
  for (const name of Object.keys(object)) {
    if (!known.includes(name)) warnings.push(`unknown field ${JSON.stringify(`${prefix}${name}`)}`);
  }
}

/** A list of strings, or nothing. Other values are errors: dropping them would widen the rule. */
function textsOf(value: Json | undefined, path: FieldPath, errors: FieldError[]): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    errors.push(field.invalid(path, value, "must be a list of strings"));
    return [];
  }
  for (const [i, one] of value.entries())
    if (typeof one !== "string") errors.push(field.invalid(path.index(i), one, "must be a string"));
  return value.map(String);
}
