/** List, map and struct literals. */

import { costs } from "../functions/cost.ts";
import { formatKey } from "../values/attribute.ts";
import { HashMap } from "../values/hash-map.ts";
import { StructValue } from "../values/struct-value.ts";
import type { ObjectType } from "../values/type.ts";
import { ArrayList, CelError, noSuchOverload, Optional, type Value } from "../values/value.ts";
import type { Step } from "./frame.ts";

/** `?item`: left out if the optional is empty. */
export interface Part {
  readonly run: Step;
  readonly optional: boolean;
}

export function makeList(items: readonly Part[]): Step {
  return (frame) => {
    const values: Value[] = [];
    for (const { run, optional } of items) {
      const value = run(frame);
      if (value instanceof CelError) return value;
      if (!optional) values.push(value);
      else if (!(value instanceof Optional)) return noSuchOverload();
      else if (value.value !== undefined) values.push(value.value);
    }
    frame.charge(costs.listCreate);
    return new ArrayList(values);
  };
}

export function makeMap(entries: readonly (Part & { readonly key: Step })[]): Step {
  return (frame) => {
    const map = new HashMap();
    for (const { key, run, optional } of entries) {
      const at = key(frame);
      if (at instanceof CelError) return at;
      const value = run(frame);
      if (value instanceof CelError) return value;
      const fault = optional ? addOptional(map, at, value) : addEntry(map, at, value);
      if (fault !== undefined) return fault;
    }
    frame.charge(costs.mapCreate);
    return map;
  };
}

export function makeStruct(type: ObjectType, fields: readonly (Part & { readonly name: string })[]): Step {
  return (frame) => {
    const set = new Map<string, Value>();
    for (const { name, run, optional } of fields) {
      const value = run(frame);
      if (value instanceof CelError) return value;
      if (!optional) set.set(name, value);
      else if (!(value instanceof Optional)) return noSuchOverload();
      else if (value.value !== undefined) set.set(name, value.value);
    }
    frame.charge(costs.structCreate);
    return new StructValue(type, set);
  };
}

function addEntry(map: HashMap, key: Value, value: Value): CelError | undefined {
  if (map.add(key, value)) return undefined;
  return new CelError(
    map.has(key) ? `Failed with repeated key: ${formatKey(key)}` : `unsupported key type: ${formatKey(key)}`,
  );
}

function addOptional(map: HashMap, key: Value, value: Value): CelError | undefined {
  if (!(value instanceof Optional)) return noSuchOverload();
  return value.value === undefined ? undefined : addEntry(map, key, value.value);
}
