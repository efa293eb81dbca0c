/** What a claim requests: one kind of device, or the first of several that is available. */
import {
  type FieldError,
  type FieldPath,
  invalid,
  NO_ERRORS,
  notSupported,
  required,
} from "../machinery/errors/field-error.ts";
import type { Int64 } from "../machinery/json/json.ts";
import type { DeviceRequest, DeviceSubRequest, ExactDeviceRequest } from "../types/resource-v1.ts";
import { validateSelectors } from "./device-selector.ts";
import { validateTolerations } from "./device-toleration.ts";
import { validateSet } from "./lists.ts";
import { deviceClassNameFaults, labelFaults } from "./names.ts";

const modes = ["All", "ExactCount"];
const mostAlternatives = 8;
const oneKind = "exactly one of `exactly` or `firstAvailable` is required";

export function validateRequest(request: DeviceRequest, stored: boolean, at: FieldPath): readonly FieldError[] {
  return [...labelFaults(request.name, at.child("name")), ...validateAlternatives(request, stored, at)];
}

function validateAlternatives(
  { exactly, firstAvailable = [] }: DeviceRequest,
  stored: boolean,
  at: FieldPath,
): readonly FieldError[] {
  if (exactly === undefined && firstAvailable.length === 0) return [required(at, oneKind)];
  if (exactly === undefined) {
    return validateSet(
      firstAvailable,
      mostAlternatives,
      (one, where) => validateSubRequest(one, stored, where),
      ({ name }) => name,
      at.child("firstAvailable"),
    );
  }
  if (firstAvailable.length > 0) return [invalid(at, null, `${oneKind}, but multiple fields are set`)];
  return validateExact(exactly, stored, at.child("exactly"));
}

function validateSubRequest(request: DeviceSubRequest, stored: boolean, at: FieldPath): readonly FieldError[] {
  return [...labelFaults(request.name, at.child("name")), ...validateExact(request, stored, at)];
}

function validateExact(
  request: Omit<ExactDeviceRequest, "adminAccess">,
  stored: boolean,
  at: FieldPath,
): readonly FieldError[] {
  const { deviceClassName, selectors, allocationMode = "", count = 0, tolerations } = request;
  return [
    ...deviceClassNameFaults(deviceClassName, at.child("deviceClassName")),
    ...validateSelectors(selectors, stored, at.child("selectors")),
    ...countFaults(allocationMode, count, at),
    ...validateTolerations(tolerations, at.child("tolerations")),
  ];
}

function countFaults(mode: string, count: Int64, at: FieldPath): readonly FieldError[] {
  switch (mode) {
    case "All":
      return count === 0
        ? NO_ERRORS
        : [invalid(at.child("count"), count, "must not be specified when allocationMode is 'All'")];
    case "ExactCount":
      return count > 0 ? NO_ERRORS : [invalid(at.child("count"), count, "must be greater than zero")];
    default:
      return [notSupported(at.child("allocationMode"), mode, modes)];
  }
}
