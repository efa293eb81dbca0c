/** Resource names that limit ranges and quotas know; others need a domain. */
import { type FieldError, type FieldPath, invalid } from "../../machinery/errors/field-error.ts";
import { checkQualifiedName } from "../../machinery/names/names.ts";
import { isExtendedResource } from "./resource-list.ts";

const compute = ["cpu", "memory", "ephemeral-storage"];
const counted = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const ofQuotas = new Set([
  ...compute,
  ...compute.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  "requests.storage",
  ...counted,
]);

export function isStandardQuotaResource(name: string): boolean {
  return ofQuotas.has(name) || /^(requests\.)?hugepages-/.test(name);
}

export function resourceNameFaults(name: string, where: FieldPath): readonly FieldError[] {
  const errors = checkQualifiedName(name).map((why) => invalid(where, name, why));
  if (errors.length === 0 && !name.includes("/") && name !== "storage" && !isStandardQuotaResource(name)) {
    errors.push(invalid(where, name, "must be a standard resource type or fully qualified"));
  }
  return errors;
}

export function containerResourceNameFaults(name: string, where: FieldPath): readonly FieldError[] {
  const errors = [...resourceNameFaults(name, where)];
  const standard = compute.includes(name) || name.startsWith("hugepages-");
  if (!name.includes("/")) {
    if (!standard) errors.push(invalid(where, name, "must be a standard resource for containers"));
  } else if (!name.includes("kubernetes.io/") && !isExtendedResource(name)) {
    errors.push(invalid(where, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

export function quotaResourceNameFaults(name: string, where: FieldPath): readonly FieldError[] {
  const errors = [...resourceNameFaults(name, where)];
  if (!name.includes("/") && !isStandardQuotaResource(name))
    errors.push(invalid(where, name, "must be a standard resource for quota"));
  return errors;
}
