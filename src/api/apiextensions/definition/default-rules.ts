/**
 * Validation of defaults: they must be values that an object could have, without unknown fields.
 *
 * 1. A default inside the metadata of an embedded object is validated as part of such an object.
 */

import {
  aggregate,
  at,
  type FieldError,
  type FieldPath,
  fieldErrorText,
  invalid,
} from "../../machinery/errors/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../machinery/json/json.ts";
import { DecodeError } from "../../machinery/schema/decode.ts";
import type { Memo } from "../../machinery/schema/memo.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import { compilePruning, type Prune, type Pruned } from "../schema/pruning.ts";
import { NotStructuralError, type Structural, structuralOf } from "../schema/structural.ts";
import { type CheckMemo, compileFaults } from "../values/compile.ts";
import { compileEmbedded, resourceFaults } from "../values/embedded.ts";
import type { Walk } from "../values/list-types.ts";

/** Runs the rules on a default that is valid otherwise; all defaults share one budget. */
export type DefaultRules = (
  schema: Structural,
  value: Json,
  path: FieldPath,
  isResource: boolean,
) => readonly FieldError[];

/** A default in its place, with everything around it that its object must have. */
type Surround = (value: Json) => Json;

const resource: Surround = (value) => ({ kind: "Validation", apiVersion: "validation/v1", ...(value as JsonObject) });

interface Place {
  readonly surround: Surround;
  readonly insideMeta: boolean;
}

export function defaultFaults(
  root: Structural,
  path: FieldPath,
  requirePruned: boolean,
  rules: DefaultRules,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const work: Work = { rules, checks: new Map(), walks: new Map(), pruning: new Map() };
  const visit = (schema: Structural, where: FieldPath, place: Place): void => {
    const isResource = schema.embedded || schema === root;
    const { surround, insideMeta } = isResource ? { surround: resource, insideMeta: false } : place;
    if (schema.default !== undefined) {
      const faults = insideMeta
        ? metaDefaultFaults(schema, schema.default, surround, where.child("default"), work)
        : valueDefaultFaults(schema, schema.default, isResource, where.child("default"), requirePruned, work);
      errors.push(...faults);
    }
    if (schema.items !== undefined)
      visit(schema.items, where.child("items"), { surround: (value) => surround([value]), insideMeta });
    for (const [name, property] of schema.properties) {
      const isMeta = isResource && (name === "metadata" || name === "apiVersion" || name === "kind");
      visit(property, where.child("properties").key(name), {
        surround: (value) => surround({ [name]: value }),
        insideMeta: insideMeta || isMeta,
      });
    }
  };
  visit(root, path, { surround: resource, insideMeta: false });
  return errors;
}

/** What is compiled once for all defaults of a schema. */
interface Work {
  readonly rules: DefaultRules;
  readonly checks: CheckMemo;
  readonly walks: Memo<Structural, Walk | undefined>;
  readonly pruning: Memo<Structural, Prune>;
}

function valueDefaultFaults(
  schema: Structural,
  value: Json,
  isResource: boolean,
  path: FieldPath,
  requirePruned: boolean,
  work: Work,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { unknown, fault } = prunedOf(schema, value, isResource, work.pruning);
  if (fault !== undefined) return [invalid(path, value, fault)];
  if (requirePruned && unknown > 0) errors.push(invalid(path, value, "must not have unknown fields"));
  const embedded: FieldError[] = [];
  compileEmbedded(asResource(schema, isResource), work.walks)?.(value, path, embedded);
  if (embedded.length > 0) return [...errors, ...embedded];
  return [...errors, ...invalidOr(schema, value, path, work, isResource)];
}

function metaDefaultFaults(
  schema: Structural,
  value: Json,
  surround: Surround,
  path: FieldPath,
  work: Work,
): readonly FieldError[] {
  const object = surround(value);
  const faults = isObject(object) ? resourceFaults(object, at()) : [];
  if (faults.length > 0)
    return [invalid(path, value, `must result in valid metadata: ${aggregate(faults.map(fieldErrorText))}`)];
  return invalidOr(schema, value, path, work, false);
}

function invalidOr(
  schema: Structural,
  value: Json,
  path: FieldPath,
  { rules, checks }: Work,
  isResource: boolean,
): readonly FieldError[] {
  const errors = compileFaults(schema.source, checks)(value, path, undefined);
  return errors.length > 0 ? errors : rules(schema, value, path, isResource);
}

function prunedOf(
  schema: Structural,
  value: Json,
  isResource: boolean,
  memo: Memo<Structural, Prune>,
): { readonly unknown: number; readonly fault?: string } {
  const pruned: Pruned = { unknown: [], embedded: [], lenient: false };
  try {
    compilePruning(asResource(schema, isResource), { root: false, memo })(value, pruned);
    return { unknown: pruned.unknown.length };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { unknown: 0, fault: error.message };
  }
}

/** The root of a definition is a resource even though it does not say so. */
function asResource(schema: Structural, isResource: boolean): Structural {
  return !isResource || schema.embedded ? schema : { ...schema, embedded: true };
}

/** Whether defaults have unknown fields, as old definitions may have. */
export function hasUnprunedDefaults(schema: JSONSchemaProps): boolean {
  try {
    const root = structuralOf(schema);
    return hasUnpruned(root, root, new Map());
  } catch (error) {
    if (error instanceof NotStructuralError) return false;
    throw error;
  }
}

function hasUnpruned(node: Structural, root: Structural, memo: Memo<Structural, Prune>): boolean {
  const { default: value, items, properties, additional } = node;
  if (value !== undefined && prunedOf(node, value, node === root || node.embedded, memo).unknown > 0) return true;
  if (items !== undefined && hasUnpruned(items, root, memo)) return true;
  if (typeof additional === "object" && hasUnpruned(additional, root, memo)) return true;
  return [...properties.values()].some((property) => hasUnpruned(property, root, memo));
}
