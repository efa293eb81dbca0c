/** Go's names for the types of a schema, and which of them are structs. */
import { table } from "#base";
import type { FieldSchema, Schema } from "./schema.ts";

const scalars: Readonly<Record<string, string>> = table({
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
});

/** `v1.PodSpec`, `[]v1.Container`, `map[string]string`, `v1.ResourceList`. */
export function goTypeName(schema: Schema): string {
  if (schema.goType !== undefined) return shortName(schema.goType);
  switch (schema.type) {
    case "object":
      return "map[string]interface {}";
    case "list":
      return `[]${goTypeName(schema.items)}`;
    case "map":
      return `map[${schema.keyType === undefined ? "string" : shortName(schema.keyType)}]${goTypeName(schema.values)}`;
    default:
      return scalars[schema.type] ?? schema.type;
  }
}

function shortName(goType: string): string {
  return goType.split(".").slice(-2).join(".");
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

/** `HTTPGet` for `httpGet`. */
export function goFieldName({ name, goName }: FieldSchema): string {
  return goName ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
