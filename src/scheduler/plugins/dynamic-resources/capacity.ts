/**
 * How much of a device's capacities a request consumes, where several allocations may share the device.
 *
 *     no request        the policy's default, or everything
 *     a valid range     rounded up to the minimum, then to whole steps
 *     valid values      rounded up to the next value
 *     no policy         as requested
 */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityOf,
  type resource,
  scaledValue,
} from "#api";

export type Capacities = Readonly<Record<string, resource.DeviceCapacity>>;
type Requested = Readonly<Record<string, string>> | undefined;
type Policy = resource.CapacityRequestPolicy | undefined;

/** Whether the request fits beside what is consumed already. */
export function fitsCapacity(
  requested: Requested,
  capacities: Capacities,
  consumed: readonly (ReadonlyMap<string, Quantity> | undefined)[],
): boolean {
  for (const name of Object.keys(requested ?? {})) if (!Object.hasOwn(capacities, name)) return false;
  for (const [name, { value, requestPolicy }] of Object.entries(capacities)) {
    const own = consumedOf(requested?.[name], value, requestPolicy);
    if (violates(own, requestPolicy)) return false;
    let sum = own;
    for (const others of consumed) {
      const other = others?.get(name);
      if (other !== undefined) sum = addQuantities(sum, other);
    }
    if (compareQuantities(sum, parseQuantity(value)) > 0) return false;
  }
  return true;
}

/** What an allocation of a shared device records. */
export function consumedBy(requested: Requested, capacities: Capacities): ReadonlyMap<string, Quantity> {
  return new Map(
    Object.entries(capacities).map(([name, { value, requestPolicy }]) => [
      name,
      consumedOf(requested?.[name], value, requestPolicy),
    ]),
  );
}

export function capacityTexts(consumed: ReadonlyMap<string, Quantity>): Readonly<Record<string, string>> {
  return Object.fromEntries([...consumed].map(([name, value]) => [name, formatQuantity(value)]));
}

function consumedOf(requested: string | undefined, total: string, policy: Policy): Quantity {
  if (requested === undefined) return parseQuantity(policy?.default ?? total);
  const value = parseQuantity(requested);
  if (policy?.validRange !== undefined) return intoRange(value, policy.validRange);
  const next = (policy?.validValues ?? [])
    .map(parseQuantity)
    .filter((each) => compareQuantities(each, value) >= 0)
    .sort(compareQuantities)[0];
  return next ?? value;
}

function intoRange(value: Quantity, { min, step }: resource.CapacityRequestPolicyRange): Quantity {
  const lowest = parseQuantity(min);
  if (compareQuantities(value, lowest) < 0) return lowest;
  if (step === undefined) return value;
  const [from, by] = [scaledValue(lowest, 0), scaledValue(parseQuantity(step), 0)];
  const above = scaledValue(value, 0) - from;
  const rest = by === 0n ? 0n : above % by;
  return rest === 0n ? value : quantityOf(from + above - rest + by, value.format);
}

function violates(value: Quantity, policy: Policy): boolean {
  if (policy === undefined) return false;
  const { validRange, validValues = [] } = policy;
  if (policy.default !== undefined && compareQuantities(value, parseQuantity(policy.default)) === 0) return false;
  if (validRange !== undefined) {
    const { min, max, step } = validRange;
    if (max !== undefined && compareQuantities(value, parseQuantity(max)) > 0) return true;
    if (step === undefined) return false;
    const by = scaledValue(parseQuantity(step), 0);
    return by !== 0n && (scaledValue(value, 0) - scaledValue(parseQuantity(min), 0)) % by !== 0n;
  }
  return validValues.length > 0 && validValues.every((each) => compareQuantities(parseQuantity(each), value) !== 0);
}
