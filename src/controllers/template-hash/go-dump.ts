/**
 * Prints a Pod template like Kubernetes does before hashing: every field of every struct in declaration order, with its
 * type, set or not. Names of ReplicaSets and of revisions are hashes of this text.
 *
 * 1. Types are printed before the fields of structs, not before the elements of lists and maps.
 * 2. Empty lists and maps count as absent: protobuf does not distinguish them.
 * 3. Values whose Go text is not reproducible (a quantity beyond 64 bits, a time) are printed in a form of our own: the
 *    hash is stable, but differs from that of Kubernetes.
 */
import { isObject, type Json, type JsonObject, parseQuantity } from "#api";
import { goNamedTypes, goShapes } from "./go-shapes.ts";

interface Field {
  /** Empty for an embedded struct whose fields JSON inlines. */
  readonly json: string;
  readonly go: string;
  readonly type: string;
}

const shapes: ReadonlyMap<string, readonly Field[]> = new Map(
  goShapes
    .trim()
    .split("\n")
    .map((line) => {
      const [name = "", ...fields] = line.split(" ");
      return [name, fields.map(fieldOf)];
    }),
);

function fieldOf(text: string): Field {
  if (text.startsWith("+")) {
    const type = text.slice(1);
    return { json: "", go: type.slice(type.indexOf(".") + 1), type };
  }
  const [name = "", type = ""] = text.split(/:(.*)/s);
  const [json = "", go = json.charAt(0).toUpperCase() + json.slice(1)] = name.split("=");
  return { json, go, type };
}

/** `type`: the Go type, such as v1.PodTemplateSpec. */
export function goDump(value: Json | undefined, type: string): string {
  return `(${type})${bare(value, type)}`;
}

function bare(value: Json | undefined, type: string): string {
  if (type.startsWith("*")) return value === undefined || value === null ? "<nil>" : bare(value, type.slice(1));
  if (type.startsWith("[]")) return list(value, type.slice(2));
  const entries = /^map\[[^\]]+\](.*)$/.exec(goNamedTypes[type] ?? type)?.[1];
  if (entries !== undefined) return map(value, entries);
  const fields = shapes.get(type);
  if (fields !== undefined) return struct(value, fields);
  switch (type) {
    case "v1.Time":
      return time(value);
    case "resource.Quantity":
      return quantity(value);
    case "intstr.IntOrString":
      return intOrString(value);
    case "bool":
      return String(value ?? false);
    case "int32":
    case "int64":
      return String(value ?? 0);
    default:
      return typeof value === "string" ? value : "";
  }
}

function list(value: Json | undefined, items: string): string {
  if (!Array.isArray(value) || value.length === 0) return "<nil>";
  return `[${value.map((item) => bare(item, items)).join(" ")}]`;
}

function map(value: Json | undefined, values: string): string {
  if (!isObject(value ?? null) || Object.keys(value as JsonObject).length === 0) return "<nil>";
  const entries = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, each]) => `${key}:${bare(each, values)}`).join(" ")}]`;
}

function struct(value: Json | undefined, fields: readonly Field[]): string {
  const object = isObject(value ?? null) ? (value as JsonObject) : {};
  return `{${fields
    .map(({ json, go, type }) => `${go}:${goDump(json === "" ? object : object[json], type)}`)
    .join(" ")}}`;
}

function quantity(value: Json | undefined): string {
  const { unscaled, scale, format, text = "" } = parseQuantity(typeof value === "string" ? value : "0");
  const amount = `(resource.int64Amount){value:(int64)${unscaled} scale:(resource.Scale)${scale}}`;
  return `{i:${amount} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)${text} Format:(resource.Format)${format}}`;
}

function intOrString(value: Json | undefined): string {
  const text = typeof value === "string" ? value : "";
  const number = typeof value === "number" ? value : 0;
  return `{Type:(intstr.Type)${text === "" ? 0 : 1} IntVal:(int32)${number} StrVal:(string)${text}}`;
}

function time(value: Json | undefined): string {
  if (typeof value === "string") return `{Time:(time.Time)${value}}`;
  return "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}";
}
