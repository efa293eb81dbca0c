/**
 * Whether an applied configuration fits its schema, as strictly as server-side apply requires: unknown fields, wrong
 * types, and items of a list that share their keys are refused, in the words of Kubernetes.
 */

import { goKind, goNumber, goQuote, goValue } from "../json/go-text.ts";
import { isNumeric } from "../json/int64.ts";
import { isObject, type Json } from "../json/json.ts";
import { MAX_PRINTED } from "../json/printed.ts";
import type { ListSchema, Schema } from "../schema/schema.ts";
import { type PathElement, printElement } from "./path-element.ts";
import { itemElement, ShapeError } from "./shape.ts";

/** Undefined, or all faults in one text. */
export function nonconformance(schema: Schema, value: Json): string | undefined {
  const faults = new Faults();
  check(schema, value, "", faults);
  return joined(faults.texts);
}

/** As `nonconformance`, for an object that is stored: its lists may have items that share their keys. */
export function storedNonconformance(schema: Schema, value: Json): string | undefined {
  const faults = new Faults(true);
  check(schema, value, "", faults);
  return joined(faults.texts);
}

/** Faults up to the length that is printed: see `printed.ts`. */
class Faults {
  readonly texts: string[] = [];
  readonly #mayRepeat: boolean;
  #printed = 0;

  constructor(mayRepeat = false) {
    this.#mayRepeat = mayRepeat;
  }

  get isFull(): boolean {
    return this.#printed > MAX_PRINTED;
  }

  add(path: string, text: string): void {
    if (this.isFull) return;
    this.#printed += path.length + text.length;
    this.texts.push(path === "" ? text : `${path}: ${text}`);
  }

  duplicate(path: string, element: PathElement): void {
    if (!this.#mayRepeat) this.add(path, `duplicate entries for key ${printElement(element)}`);
  }
}

function joined(faults: readonly string[]): string | undefined {
  if (faults.length <= 1) return faults[0];
  return ["errors:", ...faults.map((fault) => `  ${fault}`)].join("\n");
}

function check(schema: Schema, value: Json, path: string, faults: Faults): void {
  if (value === null || schema.type === "any" || faults.isFull) return;
  const fault = (text: string): void => {
    faults.add(path, text);
  };
  switch (schema.type) {
    case "object":
    case "map":
      if (!isObject(value)) {
        fault(`expected map, got &{${goValue(value)}}`);
        return;
      }
      for (const [name, part] of Object.entries(value)) {
        const known = schema.type === "map" ? schema.values : schema.fields.get(name)?.schema;
        if (known !== undefined) {
          check(known, part, `${path}.${name}`, faults);
        } else if (schema.type === "object" && !schema.preserveUnknown) {
          // Kubernetes stops at the first fault of this map.
          faults.add(`${path}.${name}`, "field not declared in schema");
          return;
        }
      }
      return;
    case "list":
      if (Array.isArray(value)) checkItems(schema, value, path, faults, fault);
      else fault(`expected list, got &{${goValue(value)}}`);
      return;
    default: {
      const text = scalarFault(schema.type, value);
      if (text !== undefined) fault(text);
    }
  }
}

function checkItems(
  schema: ListSchema,
  list: readonly Json[],
  path: string,
  faults: Faults,
  fault: (text: string) => void,
): void {
  const seen = new Set<PathElement>();
  for (const [i, item] of list.entries()) {
    let element = `i:${i}`;
    if (schema.listType !== "atomic") {
      try {
        element = itemElement(schema, item);
      } catch (error) {
        if (!(error instanceof ShapeError)) throw error;
        fault(`element ${i}: ${error.message}`);
        return;
      }
      if (seen.has(element)) faults.duplicate(path, element);
      seen.add(element);
    }
    check(schema.items, item, path + printElement(element), faults);
  }
}

function scalarFault(
  type: Exclude<Schema["type"], "object" | "map" | "list" | "any">,
  value: Json,
): string | undefined {
  switch (type) {
    case "int32":
    case "int64":
    case "double":
      return isNumeric(value) ? undefined : `expected numeric (int or float), got ${goTypeName(value)}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got &{${goValue(value)}}`;
    case "quantity":
    case "intOrString":
      return typeof value === "object" ? `expected any scalar, got &{${goValue(value)}}` : undefined;
    default:
      return typeof value === "string"
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
  }
}

function goTypeName(value: Json): string {
  const kind = goKind(value);
  return kind === "map" ? "map[string]interface {}" : kind === "slice" ? "[]interface {}" : kind;
}

/** As Go's `%#v` prints a value that was decoded without a type. */
function goSyntax(value: Json): string {
  if (value === null) return "interface {}(nil)";
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return goNumber(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isObject(value)) return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[string]interface {}{${entries.map(([name, part]) => `${goQuote(name)}:${goSyntax(part)}`).join(", ")}}`;
}
