/** Configuration of devices, which only their driver understands. */
import {
  type FieldError,
  type FieldPath,
  invalid,
  NO_ERRORS,
  required,
  tooLong,
} from "../machinery/errors/field-error.ts";
import { goJson } from "../machinery/json/go-text.ts";
import { isObject, type Json } from "../machinery/json/json.ts";
import type { DeviceConfiguration } from "../types/resource-v1.ts";
import { driverNameFaults } from "./names.ts";

const longestParameters = 10 * 1024;

/** `stored`: an update leaves it as it was; its size is not checked again. */
export function validateConfiguration(
  { opaque }: DeviceConfiguration,
  stored: boolean,
  at: FieldPath,
): readonly FieldError[] {
  const path = at.child("opaque");
  if (opaque === undefined) return [required(path)];
  return [
    ...driverNameFaults(opaque.driver, path.child("driver")),
    ...validateRawJson(opaque.parameters, stored ? undefined : longestParameters, path.child("parameters")),
  ];
}

/** Data of a driver: a JSON object. */
export function validateRawJson(
  value: Json | undefined,
  longest: number | undefined,
  at: FieldPath,
): readonly FieldError[] {
  if (value === undefined || value === null) return [required(at)];
  if (longest !== undefined && Buffer.byteLength(goJson(value)) > longest) return [tooLong(at, longest)];
  return isObject(value) ? NO_ERRORS : [invalid(at, "<value omitted>", "must be a valid JSON object")];
}
