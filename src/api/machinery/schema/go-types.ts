/** Go's names for the types of a schema, and which of them are structs. */
import type { Schema } from "./schema.ts";

const scalars: Readonly<Record<string, string>> = {
  string: "string",
  boolean: "bool",
  int32: "int32",
  int64: "int64",
  double: "float64",
  bytes: "[]uint8",
  quantity: "resource.Quantity",
  intOrString: "intstr.IntOrString",
  time: "v1.Time",
  microTime: "v1.MicroTime",
  duration: "v1.Duration",
  any: "runtime.RawExtension",
};

/** `v1.PodSpec`, `[]v1.Container`, `map[string]string`. */
export function goTypeName(schema: Schema): string {
  switch (schema.type) {
    case "object":
      return schema.goType?.split(".").slice(-2).join(".") ?? "map[string]interface {}";
    case "list":
      return `[]${goTypeName(schema.items)}`;
    case "map":
      return `map[string]${goTypeName(schema.values)}`;
    default:
      return scalars[schema.type] ?? schema.type;
  }
}

/** `PodSpec`. */
export function goStructName(schema: Schema): string {
  return schema.type === "object" ? (schema.goType?.split(".").at(-1) ?? "") : "";
}

/** Structs are written even when they are empty, unless the field says otherwise. */
export function isStruct(schema: Schema): boolean {
  switch (schema.type) {
    case "object":
    case "any":
    case "quantity":
    case "intOrString":
    case "time":
    case "microTime":
    case "duration":
      return true;
    default:
      return false;
  }
}
