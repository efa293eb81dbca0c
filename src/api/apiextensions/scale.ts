/** The paths of the scale subresource, and whether their values are valid numbers of replicas. */
import { type FieldError, invalid } from "../machinery/errors/field-error.ts";
import { goValue } from "../machinery/json/go-text.ts";
import { isInt64, isNumeric } from "../machinery/json/int64.ts";
import { isObject, type Json, type JsonObject } from "../machinery/json/json.ts";
import { getKey } from "../machinery/json/own-key.ts";
import type { ScaleRules } from "../machinery/kind.ts";
import type { CustomResourceSubresourceScale } from "../types/apiextensions-v1.ts";

const MAX_REPLICAS = 2 ** 31 - 1;

export function scaleRules({
  specReplicasPath,
  statusReplicasPath,
  labelSelectorPath,
}: CustomResourceSubresourceScale): ScaleRules {
  return {
    replicas: specReplicasPath.replace(/^\./, ""),
    statusReplicas: statusReplicasPath.replace(/^\./, ""),
    selector: labelSelectorPath ? labelSelectorPath.replace(/^\./, "") : undefined,
  };
}

export function scaleSpecFaults(scale: CustomResourceSubresourceScale, object: JsonObject): readonly FieldError[] {
  return replicasFaults(scale.specReplicasPath, object);
}

export function scaleStatusFaults(scale: CustomResourceSubresourceScale, object: JsonObject): readonly FieldError[] {
  const { labelSelectorPath, statusReplicasPath } = scale;
  const errors = replicasFaults(statusReplicasPath, object);
  if (!labelSelectorPath) return errors;
  const { fault } = valueAt(labelSelectorPath, object, "string", (value) => typeof value === "string");
  return fault === undefined ? errors : [...errors, invalid(labelSelectorPath, "", fault)];
}

function replicasFaults(path: string, object: JsonObject): readonly FieldError[] {
  const { value, fault } = valueAt(path, object, "int64", isInt64);
  if (fault !== undefined) return [invalid(path, 0, fault)];
  const replicas = isInt64(value) ? value : 0;
  if (replicas < 0) return [invalid(path, replicas, "should be a non-negative integer")];
  return replicas > MAX_REPLICAS ? [invalid(path, replicas, `should be less than or equal to ${MAX_REPLICAS}`)] : [];
}

/** An absent value is not a fault; a step that is not an object, or a value of another type, is. */
function valueAt(
  path: string,
  object: JsonObject,
  type: string,
  isOfType: (value: Json) => boolean,
): { readonly value?: Json; readonly fault?: string } {
  const names = path.replace(/^\./, "").split(".");
  let value: Json = object;
  for (const [i, name] of names.entries()) {
    if (value === null) return {};
    if (!isObject(value)) return { fault: accessFault(names.slice(0, i + 1), value, "map[string]interface{}") };
    const part = getKey(value, name);
    if (part === undefined) return {};
    value = part;
  }
  return isOfType(value) ? { value } : { fault: accessFault(names, value, type) };
}

function accessFault(names: readonly string[], value: Json, type: string): string {
  return `.${names.join(".")} accessor error: ${goValue(value)} is of the type ${goTypeOf(value)}, expected ${type}`;
}

function goTypeOf(value: Json): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (isNumeric(value)) return isInt64(value) ? "int64" : "float64";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "map[string]interface {}";
}
