/** Validation of ResourceSlices. */
import { validateNodeSelector } from "../core/index.ts";
import { fits, positive, unchanged } from "../definition/field-checks.ts";
import { internalField } from "../facts/index.ts";
import { type FieldError, type FieldPath, invalid, NO_ERRORS, required } from "../machinery/errors/field-error.ts";
import { asSent } from "../machinery/json/sent-empty.ts";
import { checkDns1123Subdomain } from "../machinery/names/names.ts";
import type { CounterSet, Device, ResourcePool, ResourceSliceSpec } from "../types/resource-v1.ts";
import { validateCounters } from "./device-counters.ts";
import { validateDevice } from "./device-validation.ts";
import { validateSet } from "./lists.ts";
import { driverNameFaults, labelFaults, poolNameFaults } from "./names.ts";

const mostDevices = 128;
/** Where a device has taints or consumes counters. */
const mostAdvancedDevices = 64;
const mostCounterSets = 8;
const onePlace = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

export function validateSlice(
  spec: ResourceSliceSpec,
  old: ResourceSliceSpec | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const { driver, pool, devices, sharedCounters, perDeviceNodeSelection = false } = spec;
  const before = new Map((old?.devices ?? []).map((device) => [device.name, device]));
  return [
    ...driverNameFaults(driver, at.child("driver")),
    ...validatePool(pool, at.child("pool")),
    ...(old === undefined ? NO_ERRORS : identityFaults(spec, old, at)),
    ...validatePlaces(spec, at),
    ...(asSent(spec, "sharedCounters") !== null && asSent(spec, "devices") !== null
      ? [invalid(at, "", "only one of `sharedCounters` or `devices` is allowed")]
      : []),
    ...validateSet(
      devices,
      (devices ?? []).some(isAdvanced) ? mostAdvancedDevices : mostDevices,
      (device, where) => validateDevice(device, before.get(device.name), perDeviceNodeSelection, where),
      ({ name }) => name,
      at.child("devices"),
    ),
    ...validateSet(sharedCounters, mostCounterSets, validateCounterSet, ({ name }) => name, at.child("sharedCounters")),
  ];
}

function isAdvanced({ taints = [], consumesCounters = [] }: Device): boolean {
  return taints.length > 0 || consumesCounters.length > 0;
}

function identityFaults(next: ResourceSliceSpec, old: ResourceSliceSpec, at: FieldPath): readonly FieldError[] {
  return [
    ...unchanged(next.pool.name, old.pool.name, at.child("pool", "name")),
    ...unchanged(next.driver, old.driver, at.child("driver")),
    ...unchanged(next.nodeName, old.nodeName, at.child("nodeName")),
  ];
}

function validatePool({ name, generation, resourceSliceCount }: ResourcePool, at: FieldPath): readonly FieldError[] {
  return [
    ...poolNameFaults(name, at.child("name")),
    ...positive(resourceSliceCount, at.child("resourceSliceCount")),
    ...(generation < 0 ? [invalid(at.child("generation"), generation, "must be greater than or equal to zero")] : []),
  ];
}

/** Where the devices of the slice can be used. */
function validatePlaces(spec: ResourceSliceSpec, at: FieldPath): readonly FieldError[] {
  const { nodeName, nodeSelector, allNodes, perDeviceNodeSelection } = spec;
  const errors: FieldError[] = [];
  const set: string[] = [];
  if (nodeName === "") {
    errors.push(invalid(at.child("nodeName"), "", "must be either unset or set to a non-empty string"));
  } else if (nodeName !== undefined) {
    set.push("`nodeName`");
    errors.push(...fits(checkDns1123Subdomain, nodeName, at.child("nodeName")));
  }
  if (nodeSelector !== undefined) {
    set.push("`nodeSelector`");
    const terms = nodeSelector.nodeSelectorTerms;
    errors.push(...validateNodeSelector(nodeSelector, at.child("nodeSelector")));
    if ((terms ?? []).length !== 1) {
      const where = at.child("nodeSelector", "nodeSelectorTerms");
      errors.push(
        invalid(
          where,
          internalField("core.v1.NodeSelector", "nodeSelectorTerms", terms),
          "must have exactly one node selector term",
        ),
      );
    }
  }
  for (const [name, value] of Object.entries({ allNodes, perDeviceNodeSelection })) {
    if (value === true) set.push(`\`${name}\``);
    else if (value === false) errors.push(invalid(at.child(name), false, "must be either unset or set to true"));
  }
  if (set.length === 0) errors.push(required(at, onePlace));
  if (set.length > 1) errors.push(invalid(at, `{${set.join(", ")}}`, `${onePlace}, but multiple fields are set`));
  return errors;
}

function validateCounterSet({ name, counters }: CounterSet, at: FieldPath): readonly FieldError[] {
  return [
    ...(name === "" ? [required(at.child("name"))] : labelFaults(name, at.child("name"))),
    ...validateCounters(counters, at.child("counters")),
  ];
}
