/** Validation of a device in a ResourceSlice. What an update leaves as it was is not checked again. */
import { validateNodeSelector } from "../core/index.ts";
import { fits, same } from "../definition/field-checks.ts";
import { internalForm } from "../facts/index.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  NO_ERRORS,
  required,
  tooLong,
} from "../machinery/errors/field-error.ts";
import { checkDns1123Subdomain } from "../machinery/names/names.ts";
import type { Device, DeviceAttribute, DeviceCapacity } from "../types/resource-v1.ts";
import { validateBindingConditions } from "./binding-conditions.ts";
import { validateRequestPolicy } from "./capacity-request-policy.ts";
import { validateConsumption } from "./device-counters.ts";
import { validateTaint } from "./device-toleration.ts";
import { validateMap, validateSlice } from "./lists.ts";
import { labelFaults, longestQualifiedName, qualifiedNameFaults } from "./names.ts";

const mostAttributes = 32;
const mostTaints = 16;
const longestValue = 64;
const onePlace =
  "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
const noPlace =
  "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";

export function validateDevice(
  device: Device,
  old: Device | undefined,
  hasOwnPlace: boolean,
  at: FieldPath,
): readonly FieldError[] {
  const { name, attributes, capacity, taints, consumesCounters } = device;
  const errors: FieldError[] = [...labelFaults(name, at.child("name"))];
  const count = Object.keys(attributes ?? {}).length + Object.keys(capacity ?? {}).length;
  if (count > mostAttributes) {
    const why = `the total number of attributes and capacities must not exceed ${mostAttributes}`;
    errors.push(invalid(at, count, why));
  }
  const keys = { longestKey: longestQualifiedName };
  errors.push(...validateMap(attributes, keys, qualifiedNameFaults, validateAttribute, at.child("attributes")));
  if (old === undefined || !same(capacity, old.capacity)) {
    const check = device.allowMultipleAllocations === true ? validateShared : validateExclusive;
    errors.push(...validateMap(capacity, keys, qualifiedNameFaults, check, at.child("capacity")));
  }
  if (old === undefined || !same(taints, old.taints)) {
    errors.push(...validateSlice(taints, mostTaints, validateTaint, at.child("taints")));
  }
  return [
    ...errors,
    ...validateConsumption(consumesCounters, at.child("consumesCounters")),
    ...(hasOwnPlace ? validatePlace(device, at) : placeFaults(device, at)),
    ...validateBindingConditions(device, at),
  ];
}

function placeFaults({ nodeName, nodeSelector, allNodes }: Device, at: FieldPath): readonly FieldError[] {
  const none = nodeName === undefined && nodeSelector === undefined && allNodes === undefined;
  return none ? NO_ERRORS : [invalid(at, null, noPlace)];
}

function validatePlace({ nodeName, nodeSelector, allNodes }: Device, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const set: string[] = [];
  if (nodeName === "") errors.push(invalid(at.child("nodeName"), "", "must not be empty"));
  else if (nodeName !== undefined) {
    set.push("`nodeName`");
    errors.push(...fits(checkDns1123Subdomain, nodeName, at.child("nodeName")));
  }
  if (nodeSelector !== undefined) {
    set.push("`nodeSelector`");
    errors.push(...validateNodeSelector(nodeSelector, at.child("nodeSelector")));
  }
  if (allNodes === true) set.push("`allNodes`");
  else if (allNodes === false) errors.push(invalid(at.child("allNodes"), false, "must be either unset or set to true"));
  if (set.length === 0) errors.push(required(at, onePlace));
  if (set.length > 1) errors.push(invalid(at, `{${set.join(", ")}}`, onePlace));
  return errors;
}

const number = "(0|[1-9]\\d*)";
const preRelease = "(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)";
const build = "[0-9a-zA-Z-]+";
const semver = new RegExp(
  `^${number}\\.${number}\\.${number}(-${preRelease}(\\.${preRelease})*)?(\\+${build}(\\.${build})*)?$`,
);

/** Exactly one value. */
function validateAttribute(attribute: DeviceAttribute, at: FieldPath): readonly FieldError[] {
  const { string, version } = attribute;
  const errors: FieldError[] = [];
  if (string !== undefined && string.length > longestValue) errors.push(tooLong(at.child("string"), longestValue));
  if (version !== undefined) {
    if (!semver.test(version)) {
      errors.push(invalid(at.child("version"), version, "must be a string compatible with semver.org spec 2.0.0"));
    }
    if (version.length > longestValue) errors.push(tooLong(at.child("version"), longestValue));
  }
  const values = Object.keys(attribute).length;
  if (values === 0) errors.push(required(at, "exactly one value must be specified"));
  if (values > 1)
    errors.push(
      invalid(at, internalForm("resource.v1.DeviceAttribute", attribute), "exactly one value must be specified"),
    );
  return errors;
}

function validateShared({ value, requestPolicy }: DeviceCapacity, at: FieldPath): readonly FieldError[] {
  return requestPolicy === undefined
    ? NO_ERRORS
    : validateRequestPolicy(requestPolicy, value, at.child("requestPolicy"));
}

function validateExclusive({ requestPolicy }: DeviceCapacity, at: FieldPath): readonly FieldError[] {
  if (requestPolicy === undefined) return NO_ERRORS;
  return [forbidden(at.child("requestPolicy"), "allowMultipleAllocations must be true")];
}
