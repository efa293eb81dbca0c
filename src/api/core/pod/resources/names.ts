/** Resource names and what is allowed for each. */
import { type FieldError, type FieldPath, invalid, notSupported } from "../../../machinery/errors/field-error.ts";
import { checkQualifiedName } from "../../../machinery/names/names.ts";
import { parseQuantity, QuantityError, scaledValue } from "../../../machinery/scalars/quantity.ts";

const hugePages = "hugepages-";

/** Native names without a domain, most of them for quotas. */
const standard = new Set([
  "cpu",
  "memory",
  "ephemeral-storage",
  "storage",
  ...["cpu", "memory", "ephemeral-storage", "storage"].map((name) => `requests.${name}`),
  ...["cpu", "memory", "ephemeral-storage"].map((name) => `limits.${name}`),
  "pods",
  "resourcequotas",
  "services",
  "services.nodeports",
  "services.loadbalancers",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
]);

/** Without a domain, or in a kubernetes.io domain. */
export function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

export function isHugePages(name: string): boolean {
  return name.startsWith(hugePages);
}

/** Limits may exceed requests. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

/** Resources that can be set at the pod level. */
export function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || isHugePages(name);
}

/** Huge pages come whole: `hugepages-2Mi` in multiples of 2Mi. Other resources are always divisible. */
export function isDivisible(name: string, amount: string): boolean {
  if (!isHugePages(name)) return true;
  try {
    const size = scaledValue(parseQuantity(name.slice(hugePages.length)), 0);
    const milli = scaledValue(parseQuantity(amount), -3);
    return size > 0n && milli > 0n && milli % (size * 1000n) === 0n;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

export function containerResourceFaults(name: string, at: FieldPath): readonly FieldError[] {
  const faults = resourceNameFaults(name, at);
  if (faults.length > 0) return faults;
  if (!name.includes("/")) {
    const known = name === "cpu" || name === "memory" || name === "ephemeral-storage" || isHugePages(name);
    return known ? [] : [invalid(at, name, "must be a standard resource for containers")];
  }
  if (isNativeResource(name) || isExtendedName(name)) return [];
  return [invalid(at, name, "doesn't follow extended resource name standard")];
}

export function podResourceFaults(name: string, at: FieldPath): readonly FieldError[] {
  const faults = resourceNameFaults(name, at);
  if (faults.length > 0 || isPodLevelResource(name)) return faults;
  return [notSupported(at, name, ["cpu", "hugepages-", "memory"])];
}

function resourceNameFaults(name: string, at: FieldPath): readonly FieldError[] {
  const faults = checkQualifiedName(name).map((why) => invalid(at, name, why));
  if (faults.length > 0 || name.includes("/")) return faults;
  const known = standard.has(name) || isHugePages(name) || name.startsWith("requests.hugepages-");
  return known ? [] : [invalid(at, name, "must be a standard resource type or fully qualified")];
}

/** A quota counts it as `requests.<name>`, which must be a valid name, too. */
function isExtendedName(name: string): boolean {
  return !name.startsWith("requests.") && checkQualifiedName(`requests.${name}`).length === 0;
}
