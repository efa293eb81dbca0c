/** Resource names and what is allowed for each. */
import { type FieldError, type FieldPath, notSupported } from "../../../machinery/errors/field-error.ts";
import { parseQuantity, QuantityError, scaledValue } from "../../../machinery/scalars/quantity.ts";
import { resourceNameFaults } from "../../resources/standard-resources.ts";

const hugePages = "hugepages-";

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

export function podResourceFaults(name: string, at: FieldPath): readonly FieldError[] {
  const faults = resourceNameFaults(name, at);
  if (faults.length > 0 || isPodLevelResource(name)) return faults;
  return [notSupported(at, name, ["cpu", "hugepages-", "memory"])];
}
