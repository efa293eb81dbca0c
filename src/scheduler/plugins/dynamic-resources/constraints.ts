/**
 * Constraints among the devices of a claim.
 *
 *     matchAttribute       all devices have the attribute, with the same value
 *     distinctAttribute    all devices have the attribute, each with another value
 *
 * A constraint that a set of devices breaks stays broken whatever is added: the search may stop there.
 */
import type { resource } from "#api";
import type { PoolDevice } from "./device-pools.ts";
import type { Wanted } from "./requests.ts";

export interface Constraint {
  /** False: the device breaks the constraint, which is unchanged. */
  add(wanted: Wanted, device: PoolDevice): boolean;
  /** Undoes the last `add` of this device. */
  remove(wanted: Wanted, device: PoolDevice): void;
}

export function constraintOf({ requests = [], matchAttribute, distinctAttribute }: resource.DeviceConstraint) {
  const names = new Set(requests);
  const applies = ({ name, request }: Wanted) => names.size === 0 || names.has(request) || names.has(name);
  const attribute = matchAttribute ?? distinctAttribute ?? "";
  const values: string[] = [];
  const isMatch = matchAttribute !== undefined;
  const constraint: Constraint = {
    add(wanted, device) {
      if (!applies(wanted)) return true;
      const value = attributeText(device, attribute);
      if (value === undefined) return false;
      if (values.length > 0 && (isMatch ? values[0] !== value : values.includes(value))) return false;
      values.push(value);
      return true;
    },
    remove(wanted, device) {
      if (!applies(wanted)) return;
      const value = attributeText(device, attribute);
      const at = value === undefined ? -1 : values.lastIndexOf(value);
      if (at >= 0) values.splice(at, 1);
    },
  };
  return constraint;
}

/** The attribute with its type; a name without a domain has the driver's. Undefined if the device does not have it. */
export function attributeText({ device, pool }: PoolDevice, name: string): string | undefined {
  const { attributes = {} } = device;
  const slash = name.indexOf("/");
  const found =
    own(attributes, name) ??
    (name.slice(0, slash) === pool.driver ? own(attributes, name.slice(slash + 1)) : undefined);
  if (found?.string !== undefined) return `string ${found.string}`;
  if (found?.int !== undefined) return `int ${found.int}`;
  if (found?.bool !== undefined) return `bool ${found.bool}`;
  return found?.version === undefined ? undefined : `version ${found.version}`;
}

function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
