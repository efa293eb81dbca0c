/**
 * The columns of a definition. A cell whose path finds nothing, or a value of another type than its column, is empty.
 */
import { ageOf, unknownAge } from "../definition/columns.ts";
import { goJson, goNumber } from "../machinery/json/go-text.ts";
import { int64Of } from "../machinery/json/int64.ts";
import type { Int64, Json } from "../machinery/json/json.ts";
import type { Column } from "../machinery/kind.ts";
import { TimeError } from "../machinery/scalars/time.ts";
import type { KubeObject } from "../machinery/schema/object.ts";
import type { CustomResourceColumnDefinition } from "../types/apiextensions-v1.ts";
import { compileJsonPath, type JsonPath, JsonPathError } from "./json-path.ts";

type Cell = string | Int64 | boolean | null;

const age: Column<KubeObject> = {
  name: "Age",
  type: "date",
  doc: "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.creationTimestamp",
  cell: ({ metadata }, now) => dateCell(metadata.creationTimestamp ?? null, now),
};

export function customColumns(
  definitions: readonly CustomResourceColumnDefinition[] | undefined,
): readonly Column<KubeObject>[] {
  if (definitions === undefined || definitions.length === 0) return [age];
  const columns: Column<KubeObject>[] = [];
  for (const { name, type, jsonPath, format, description, priority } of definitions) {
    const path = pathOf(jsonPath);
    // As in Kubernetes, a column with an invalid path ends the table.
    if (path === undefined) break;
    columns.push({
      name,
      type: type as Column<KubeObject>["type"],
      format,
      priority,
      description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
      cell: (object, now) => cellOf(type, firstResult(path, object as unknown as Json), now),
    });
  }
  return columns;
}

function pathOf(jsonPath: string): JsonPath | undefined {
  try {
    return compileJsonPath(jsonPath);
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

function firstResult(path: JsonPath, object: Json): Json | undefined {
  try {
    return path(object)[0];
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

function cellOf(type: string, value: Json | undefined, now: number): Cell {
  if (value === undefined) return null;
  if (type === "string") return textOf(value);
  switch (typeof value) {
    case "number":
    case "bigint":
      return type === "integer" ? wholeOf(value) : type === "number" ? Number(value) : null;
    case "boolean":
      return type === "boolean" ? value : null;
    case "string":
      return type === "date" ? dateCell(value, now) : null;
    default:
      return null;
  }
}

/** As Go converts a float64 to an int64: what does not fit becomes the smallest one. */
function wholeOf(value: Int64): Int64 {
  return typeof value === "bigint" ? value : (int64Of(BigInt(Math.trunc(value))) ?? -(2n ** 63n));
}

function textOf(value: Json): string {
  if (value === null) return "<no value>";
  if (typeof value === "object") return goJson(value);
  return typeof value === "number" ? goNumber(value) : String(value);
}

function dateCell(value: string | null, now: number): Cell {
  if (value === null || value === "" || value === "null") return unknownAge;
  try {
    return ageOf(value, now);
  } catch (error) {
    if (error instanceof TimeError) return "<invalid>";
    throw error;
  }
}
