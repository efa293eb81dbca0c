/** The rules that say which requests a webhook or a policy matches. */
import { type FieldError, type FieldPath, invalid, notSupported, required } from "../machinery/errors/field-error.ts";
import type { RuleWithOperations } from "../types/admissionregistration-v1.ts";

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const scopes = ["*", "Cluster", "Namespaced"];

export function validateRule(rule: RuleWithOperations, path: FieldPath): readonly FieldError[] {
  const given = rule.operations ?? [];
  const where = path.child("operations");
  const errors: FieldError[] = [...wildcardFaults(given, where, "operations")];
  for (const [i, operation] of given.entries()) {
    if (!operations.includes(operation)) errors.push(notSupported(where.index(i), operation, operations));
  }
  const versions = rule.apiVersions ?? [];
  errors.push(...wildcardFaults(rule.apiGroups ?? [], path.child("apiGroups"), "API groups"));
  errors.push(...wildcardFaults(versions, path.child("apiVersions"), "API versions"));
  for (const [i, version] of versions.entries())
    if (version === "") errors.push(required(path.child("apiVersions").index(i)));
  errors.push(...validateResources(rule.resources ?? [], path.child("resources")));
  if (rule.scope !== undefined && !scopes.includes(rule.scope))
    errors.push(notSupported(path.child("scope"), rule.scope, scopes));
  return errors;
}

function wildcardFaults(given: readonly string[], path: FieldPath, what: string): readonly FieldError[] {
  if (given.length === 0) return [required(path)];
  const crowded = given.length > 1 && given.includes("*");
  return crowded ? [invalid(path, given, `if '*' is present, must not specify other ${what}`)] : [];
}

/**
 * `pods`, `pods/log`, `pods/*`, `*`, `*` + `/log` and `*` + `/*`: a resource that another one covers must not be
 * listed.
 */
function validateResources(resources: readonly string[], path: FieldPath): readonly FieldError[] {
  if (resources.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  const allOf = new Set<string>();
  const inAll = new Set<string>();
  for (const [i, name] of resources.entries()) {
    if (name === "") {
      errors.push(required(path.index(i)));
      continue;
    }
    const slash = name.indexOf("/");
    if (slash < 0) continue;
    const [resource, part] = [name.slice(0, slash), name.slice(slash + 1)];
    if (allOf.has(resource))
      errors.push(invalid(path.index(i), name, `if '${resource}/*' is present, must not specify ${name}`));
    if (inAll.has(part))
      errors.push(invalid(path.index(i), name, `if '*/${part}' is present, must not specify ${name}`));
    if (part === "*") allOf.add(resource);
    if (resource === "*") inAll.add(part);
  }
  if (resources.length > 1 && resources.includes("*/*")) {
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes("*") && resources.some((name) => name !== "*" && !name.includes("/"))) {
    errors.push(invalid(path, resources, "if '*' is present, must not specify other resources without subresources"));
  }
  return errors;
}
