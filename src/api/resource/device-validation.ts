/** Validation of ResourceSlices and DeviceClasses. CEL expressions are compiled where they are evaluated. */
import { validateNodeSelector } from "../core/index.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  immutable,
  invalid,
  required,
  tooLong,
  tooMany,
} from "../machinery/errors/field-error.ts";
import { checkDns1123Label, checkDns1123Subdomain } from "../machinery/names/names.ts";
import type { DeviceClassSpec, ResourcePool, ResourceSliceSpec } from "../types/resource-v1.ts";

const maxDevices = 128;
const maxItems = 32;
/** Where a slice's devices can be used; exactly one of these is set. */
const places = ["nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"] as const;

export function validateDeviceClass(
  { selectors = [], config = [] }: DeviceClassSpec,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (selectors.length > maxItems) errors.push(tooMany(path.child("selectors"), selectors.length, maxItems));
  for (const [i, { cel }] of selectors.entries()) {
    if (cel === undefined) errors.push(required(path.child("selectors").index(i).child("cel")));
  }
  if (config.length > maxItems) errors.push(tooMany(path.child("config"), config.length, maxItems));
  for (const [i, { opaque }] of config.entries()) {
    const where = path.child("config").index(i);
    if (opaque === undefined) errors.push(required(where.child("opaque")));
    else errors.push(...driverNameFaults(opaque.driver, where.child("opaque", "driver")));
  }
  return errors;
}

export function validateSlice(spec: ResourceSliceSpec, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [
    ...driverNameFaults(spec.driver, path.child("driver")),
    ...validatePool(spec.pool, path.child("pool")),
    ...validatePlace(spec, path),
  ];
  const devices = spec.devices ?? [];
  if (devices.length > maxDevices) errors.push(tooMany(path.child("devices"), devices.length, maxDevices));
  const names = new Set<string>();
  for (const [i, { name }] of devices.entries()) {
    const where = path.child("devices").index(i);
    if (name === "") errors.push(required(where.child("name")));
    else for (const why of checkDns1123Label(name)) errors.push(invalid(where.child("name"), name, why));
    if (names.has(name)) errors.push(duplicate(where, name));
    names.add(name);
  }
  return errors;
}

export function validateSliceChange(
  next: ResourceSliceSpec,
  old: ResourceSliceSpec,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (next.driver !== old.driver) errors.push(immutable(path.child("driver"), next.driver));
  if (next.pool.name !== old.pool.name) errors.push(immutable(path.child("pool", "name"), next.pool.name));
  if (next.nodeName !== old.nodeName) errors.push(immutable(path.child("nodeName"), next.nodeName ?? null));
  return errors;
}

function validatePool(
  { name, generation, resourceSliceCount: count }: ResourcePool,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (name === "") errors.push(required(path.child("name")));
  else {
    if (name.length > 253) errors.push(tooLong(path.child("name"), 253));
    for (const part of name.split("/")) {
      for (const why of checkDns1123Subdomain(part)) errors.push(invalid(path.child("name"), part, why));
    }
  }
  if (count <= 0) errors.push(invalid(path.child("resourceSliceCount"), count, "must be greater than zero"));
  if (generation < 0)
    errors.push(invalid(path.child("generation"), generation, "must be greater than or equal to zero"));
  return errors;
}

function validatePlace(spec: ResourceSliceSpec, path: FieldPath): readonly FieldError[] {
  const given = places.filter((place) => spec[place] !== undefined && spec[place] !== false);
  const why = `exactly one of ${places.map((place) => `\`${place}\``).join(", ")} is required`;
  if (given.length === 0) return [required(path, why)];
  const errors: FieldError[] = [];
  if (spec.nodeName !== undefined) {
    for (const fault of checkDns1123Subdomain(spec.nodeName))
      errors.push(invalid(path.child("nodeName"), spec.nodeName, fault));
  }
  if (spec.nodeSelector !== undefined)
    errors.push(...validateNodeSelector(spec.nodeSelector, path.child("nodeSelector")));
  if (given.length > 1) {
    const shown = `{${given.map((place) => `\`${place}\``).join(", ")}}`;
    errors.push(invalid(path, shown, `${why}, but multiple fields are set`));
  }
  return errors;
}

function driverNameFaults(name: string, where: FieldPath): readonly FieldError[] {
  if (name === "") return [required(where)];
  const errors: FieldError[] = name.length > 63 ? [tooLong(where, 63)] : [];
  return [...errors, ...checkDns1123Subdomain(name).map((why) => invalid(where, name, why))];
}
