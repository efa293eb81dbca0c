import { ageColumn } from "../columns.ts";
import { defineKind } from "../define-kind.ts";
import { type FieldError, type FieldPath, invalid, tooLong } from "../machinery/field-error.ts";
import { checkConfigMapKey } from "../machinery/names.ts";
import type { ConfigMap as ConfigMapObject } from "../types/core-v1.ts";
import { bytesOf, changedSealed, maxDataBytes, textBytes } from "./sealed-data.ts";

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
  let bytes = 0;
  for (const [key, value] of Object.entries(data)) {
    const where = path.child("data").key(key);
    for (const why of checkConfigMapKey(key)) errors.push(invalid(where, key, why));
    if (Object.hasOwn(binaryData, key)) errors.push(invalid(where, key, "duplicate of key present in binaryData"));
    bytes += textBytes(value);
  }
  for (const [key, value] of Object.entries(binaryData)) {
    for (const why of checkConfigMapKey(key)) errors.push(invalid(path.child("binaryData").key(key), key, why));
    bytes += bytesOf(value);
  }
  // The original names no field here.
  if (bytes > maxDataBytes) errors.push(tooLong("", maxDataBytes));
  return errors;
}
