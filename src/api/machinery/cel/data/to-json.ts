/** Converts CEL values to JSON, for audit annotations, patches and messages. */

import { numberOf } from "../../json/int64.ts";
import type { Json } from "../../json/json.ts";
import { encodeBase64 } from "../../scalars/base64.ts";
import { formatDuration } from "../../scalars/duration.ts";
import { textFromTimestamp } from "../standard/conversions.ts";
import { formatKey } from "../values/attribute.ts";
import { JsonList, JsonMap, JsonObjectValue } from "../values/json-value.ts";
import { typeName } from "../values/type.ts";
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  ObjectValue,
  Optional,
  Timestamp,
  TypeValue,
  typeOf,
  Uint,
  type Value,
} from "../values/value.ts";

/** An error if JSON cannot represent it. */
export function toJson(value: Value): Json | CelError {
  if (value === null || typeof value === "boolean" || typeof value === "string" || typeof value === "number")
    return value;
  if (typeof value === "bigint") return numberOf(value);
  if (value instanceof Uint) return numberOf(value.value);
  if (value instanceof JsonList || value instanceof JsonMap || value instanceof JsonObjectValue) return value.json;
  if (value instanceof Uint8Array) return encodeBase64(value);
  if (value instanceof Timestamp) return textFromTimestamp(value);
  if (value instanceof Duration) return formatDuration(value.nanos);
  if (value instanceof ListValue) return listToJson(value);
  if (value instanceof MapValue) return mapToJson(value);
  if (value instanceof Optional) return value.value === undefined ? null : toJson(value.value);
  if (value instanceof TypeValue) return typeName(value.type);
  return new CelError(`no JSON for a value of type '${typeName(typeOf(value))}'`);
}

function listToJson(list: ListValue): Json | CelError {
  const items: Json[] = [];
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    const json = item instanceof CelError ? item : toJson(item);
    if (json instanceof CelError) return json;
    items.push(json);
  }
  return items;
}

function mapToJson(map: MapValue): Json | CelError {
  const entries: [string, Json][] = [];
  const fields = map instanceof ObjectValue ? map.type.fields : undefined;
  for (const key of map.keys()) {
    const value = map.get(key) ?? null;
    const json = value instanceof CelError ? value : toJson(value);
    if (json instanceof CelError) return json;
    const name = formatKey(key);
    entries.push([fields?.get(name)?.json ?? name, json]);
  }
  return Object.fromEntries(entries);
}
