/**
 * Applies the defaults of custom objects.
 *
 * 1. A default replaces an absent value, and null where null is not allowed.
 * 2. Defaults are applied from the outside in: a default object may itself lack fields with defaults.
 */
import { isObject, type Json } from "../../machinery/json/json.ts";
import { getKey, type OpenObject, setKey } from "../../machinery/json/own-key.ts";
import { copyJson } from "./pruning.ts";
import type { Structural } from "./structural.ts";

export type Fill = (value: Json) => void;

/** Undefined if there is no default below. */
export function compileDefaults({ properties, additional, items }: Structural): Fill | undefined {
  const steps: ((object: OpenObject) => void)[] = [];
  for (const [name, property] of properties) {
    const step = fieldStep(name, property);
    if (step !== undefined) steps.push(step);
  }
  const others = typeof additional === "object" ? othersStep(additional, properties) : undefined;
  if (others !== undefined) steps.push(others);
  const item = items && itemsStep(items);
  if (steps.length === 0 && item === undefined) return undefined;
  return (value) => {
    if (Array.isArray(value)) item?.(value as Json[]);
    else if (isObject(value)) for (const step of steps) step(value as OpenObject);
  };
}

function fieldStep(name: string, schema: Structural): ((object: OpenObject) => void) | undefined {
  const inner = compileDefaults(schema);
  const { default: fallback, nullable } = schema;
  if (inner === undefined && fallback === undefined) return undefined;
  return (object) => {
    let value = getKey(object, name);
    if (fallback !== undefined && (value === undefined || (value === null && !nullable))) {
      value = copyJson(fallback);
      setKey(object, name, value);
    }
    if (inner !== undefined && value !== undefined) inner(value);
  };
}

function othersStep(
  schema: Structural,
  declared: ReadonlyMap<string, unknown>,
): ((object: OpenObject) => void) | undefined {
  const replace = replacement(schema);
  const inner = compileDefaults(schema);
  if (inner === undefined && replace === undefined) return undefined;
  return (object) => {
    for (const key of Object.keys(object)) {
      if (declared.has(key)) continue;
      if (object[key] === null && replace !== undefined) setKey(object, key, replace());
      inner?.(object[key] as Json);
    }
  };
}

function itemsStep(schema: Structural): ((list: Json[]) => void) | undefined {
  const replace = replacement(schema);
  const inner = compileDefaults(schema);
  if (inner === undefined && replace === undefined) return undefined;
  return (list) => {
    for (let i = 0; i < list.length; i++) {
      if (list[i] === null && replace !== undefined) list[i] = replace();
      inner?.(list[i] as Json);
    }
  };
}

/** Replaces null where it is not allowed. */
function replacement({ default: fallback, nullable }: Structural): (() => Json) | undefined {
  return fallback === undefined || nullable ? undefined : () => copyJson(fallback);
}
