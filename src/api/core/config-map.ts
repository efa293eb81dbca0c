import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { type FieldError, type FieldPath, invalid, tooLong } from "../machinery/errors/field-error.ts";
import { checkConfigMapKey } from "../machinery/names/names.ts";
import type { ConfigMap as ConfigMapObject } from "../types/core-v1.ts";
import { areLonger, bytesOf, changedSealed, maxDataBytes } from "./sealed-data.ts";

export const ConfigMap = defineKind<ConfigMapObject>("v1", "ConfigMap", {
  columns: [
    {
      name: "Data",
      type: "string",
      doc: "io.k8s.api.core.v1.ConfigMap.data",
      cell: ({ data, binaryData }) => Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
    },
    ageColumn,
  ],
  validate: validateConfigMap,
  update: {
    validate: (next, old) => changedSealed(next, old, ["data", "binaryData"]),
  },
});

function validateConfigMap({ data = {}, binaryData = {} }: ConfigMapObject, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const key of Object.keys(data)) {
    const where = path.child("data").key(key);
    for (const why of checkConfigMapKey(key)) errors.push(invalid(where, key, why));
    if (Object.hasOwn(binaryData, key)) errors.push(invalid(where, key, "duplicate of key present in binaryData"));
  }
  let left = maxDataBytes;
  for (const [key, value] of Object.entries(binaryData)) {
    for (const why of checkConfigMapKey(key)) errors.push(invalid(path.child("binaryData").key(key), key, why));
    left -= bytesOf(value);
  }
  // Kubernetes names no field here.
  if (areLonger(Object.values(data), left)) errors.push(tooLong("", maxDataBytes));
  return errors;
}
