/** Limits on lists and objects, and the checks of their parts. */
import { type Int64, isObject, type Json, type JsonObject } from "../../machinery/json/json.ts";
import { getKey } from "../../machinery/json/own-key.ts";
import { writeExactly } from "../../machinery/json/write-json.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import type { Check, Report } from "./check.ts";

/** Runs a check one step further down. Faults of an unchanged part are ignored. */
function below(check: Check, value: Json, report: Report, path: string, step: string | number): boolean {
  const { path: before, correlation, faults } = report;
  const known = faults.length;
  // apiVersion and kind of the old object do not count: it has been converted to the same version.
  const isTypeMeta = before === "" && (step === "apiVersion" || step === "kind");
  const inner =
    isTypeMeta || correlation === undefined
      ? undefined
      : typeof step === "number"
        ? correlation.item(step)
        : correlation.field(step);
  report.path = path;
  report.correlation = inner;
  let valid = check(value, report);
  report.path = before;
  report.correlation = correlation;
  if (!valid && inner?.unchanged) {
    faults.length = known;
    valid = true;
  }
  return valid;
}

export function listCheck(schema: JSONSchemaProps, item: Check | undefined): Check | undefined {
  const { minItems, maxItems, uniqueItems } = schema;
  if (item === undefined && minItems === undefined && maxItems === undefined && !uniqueItems) return undefined;
  return (value, report) => {
    const list = value as readonly Json[];
    if (report === undefined) {
      if (minItems !== undefined && list.length < minItems) return false;
      if (maxItems !== undefined && list.length > maxItems) return false;
      if (item !== undefined) for (let i = 0; i < list.length; i++) if (!item(list[i] as Json, undefined)) return false;
      return !uniqueItems || isUnique(list);
    }
    let valid = true;
    if (item !== undefined)
      for (let i = 0; i < list.length; i++)
        valid = below(item, list[i] as Json, report, `${report.path}[${i}]`, i) && valid;
    if (minItems !== undefined && list.length < minItems) {
      const why = `${report.path} in body should have at least ${minItems} items`;
      valid = report.fault("FieldValueInvalid", list.length, why);
    }
    if (maxItems !== undefined && list.length > maxItems)
      valid = tooMany(report, list.length, maxItems, `${report.path} in body should have at most ${maxItems} items`);
    if (uniqueItems && !isUnique(list))
      valid = report.fault("FieldValueInvalid", "", `${report.path} in body shouldn't contain duplicates`);
    return valid;
  };
}

function isUnique(list: readonly Json[]): boolean {
  return new Set(list.map(canonical)).size === list.length;
}

/** The same text for the same JSON, whatever the order of its keys. */
export function canonical(value: Json): string {
  return JSON.stringify(value, (key, part: Json) =>
    isObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : writeExactly(key, part),
  );
}

export interface ObjectParts {
  readonly properties: ReadonlyMap<string, Check | undefined>;
  readonly additional: Check | undefined;
  /** No other properties are allowed. */
  readonly closed: boolean;
}

export function objectCheck(schema: JSONSchemaProps, parts: ObjectParts): Check | undefined {
  const { minProperties, maxProperties, required = [] } = schema;
  const { properties, additional, closed } = parts;
  const checked = [...properties.values()].some((check) => check !== undefined) || additional !== undefined || closed;
  const counted = minProperties !== undefined || maxProperties !== undefined;
  if (!checked && !counted && required.length === 0) return undefined;
  return (value, report) => {
    const object = value as JsonObject;
    if (counted) {
      const count = Object.keys(object).length;
      if (minProperties !== undefined && count < minProperties) {
        if (report === undefined) return false;
        const why = `${report.path} in body should have at least ${minProperties} properties`;
        return report.fault("FieldValueInvalid", count, why);
      }
      if (maxProperties !== undefined && count > maxProperties) {
        if (report === undefined) return false;
        const why = `${report.path} in body should have at most ${maxProperties} properties`;
        return tooMany(report, count, maxProperties, why);
      }
    }
    if (report !== undefined) return reportObject(object, report, required, parts);
    if (checked)
      for (const key in object) {
        const known = properties.get(key);
        if (known === undefined && (additional !== undefined || closed) && !properties.has(key)) {
          if (additional === undefined || !additional(object[key] as Json, undefined)) return false;
        } else if (known !== undefined && !known(object[key] as Json, undefined)) return false;
      }
    for (const name of required) if (!Object.hasOwn(object, name)) return false;
    return true;
  };
}

function reportObject(
  object: JsonObject,
  report: Report,
  required: readonly string[],
  { properties, additional, closed }: ObjectParts,
): boolean {
  let valid = true;
  for (const key of additional !== undefined || closed ? Object.keys(object) : []) {
    if (properties.has(key)) continue;
    if (additional === undefined)
      valid = report.fault("FieldValueInvalid", key, `${report.path}.${key} in body is a forbidden property`);
    else valid = below(additional, object[key] as Json, report, `${report.path}.${key}`, key) && valid;
  }
  for (const [name, check] of properties) {
    const value = getKey(object, name);
    if (check === undefined || value === undefined) continue;
    valid = below(check, value, report, report.path === "" ? name : `${report.path}.${name}`, name) && valid;
  }
  for (const name of required) {
    if (Object.hasOwn(object, name)) continue;
    const { path } = report;
    report.path = `${path}.${name}`;
    valid = report.fault("FieldValueRequired", undefined, "", `${report.path} in body is required`);
    report.path = path;
  }
  return valid;
}

function tooMany(report: Report, count: number, max: Int64, text: string): false {
  const detail = `must have at most ${max} ${max === 1 ? "item" : "items"}`;
  return report.fault("FieldValueTooMany", count, detail, text);
}
