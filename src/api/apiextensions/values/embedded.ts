/** Embedded resources: they must have apiVersion and kind, and valid metadata. */

import { type FieldError, type FieldPath, invalid, required } from "../../machinery/errors/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../machinery/json/json.ts";
import { getKey } from "../../machinery/json/own-key.ts";
import { checkDns1035Label } from "../../machinery/names/names.ts";
import { validateObjectMeta } from "../../machinery/object-meta.ts";
import { DecodeError, decode } from "../../machinery/schema/decode.ts";
import { type Memo, memoized } from "../../machinery/schema/memo.ts";
import type { ObjectMeta } from "../../machinery/schema/object.ts";
import { objectMetaSchema } from "../schema/metadata.ts";
import type { Structural } from "../schema/structural.ts";
import type { Walk } from "./list-types.ts";

/** Undefined if nothing is embedded. */
export function compileEmbedded(schema: Structural, memo?: Memo<Structural, Walk | undefined>): Walk | undefined {
  return memoized(memo, schema, () => walkOf(schema, memo));
}

function walkOf(schema: Structural, memo: Memo<Structural, Walk | undefined> | undefined): Walk | undefined {
  const { embedded, items, properties, additional } = schema;
  const item = items && compileEmbedded(items, memo);
  const value = typeof additional === "object" ? compileEmbedded(additional, memo) : undefined;
  const fields = new Map<string, Walk>();
  for (const [name, property] of properties) {
    const walk = compileEmbedded(property, memo);
    if (walk !== undefined) fields.set(name, walk);
  }
  if (!embedded && item === undefined && value === undefined && fields.size === 0) return undefined;
  return (node, at, errors) => {
    if (Array.isArray(node)) {
      if (item !== undefined) for (const [i, part] of node.entries()) item(part, at.index(i), errors);
    } else if (isObject(node)) {
      if (embedded) errors.push(...resourceFaults(node, at));
      for (const key of fields.size > 0 || value !== undefined ? Object.keys(node) : []) {
        const known = fields.get(key);
        if (known !== undefined) known(node[key] as Json, at.child(key), errors);
        else if (!properties.has(key)) value?.(node[key] as Json, at.key(key), errors);
      }
    }
  };
}

export function resourceFaults(object: JsonObject, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [apiVersion, kind] = [getKey(object, "apiVersion"), getKey(object, "kind")];
  errors.push(...textFaults(apiVersion, at.child("apiVersion"), groupVersionFaults));
  errors.push(...textFaults(kind, at.child("kind"), kindFaults));
  // Missing fields come first.
  errors.sort((a, b) => Number(b.type === "FieldValueRequired") - Number(a.type === "FieldValueRequired"));
  const metadata = getKey(object, "metadata");
  if (metadata !== undefined) errors.push(...metadataFaults(metadata, at.child("metadata")));
  return errors;
}

function textFaults(
  value: Json | undefined,
  at: FieldPath,
  faults: (text: string) => readonly string[],
): readonly FieldError[] {
  if (value === undefined) return [required(at)];
  if (typeof value !== "string") return [invalid(at, value, "must be a string")];
  if (value === "") return [invalid(at, value, "must not be empty")];
  return faults(value).map((why) => invalid(at, value, why));
}

function groupVersionFaults(text: string): readonly string[] {
  return text.split("/").length > 2 ? [`unexpected GroupVersion string: ${text}`] : [];
}

function kindFaults(kind: string): readonly string[] {
  const faults = checkDns1035Label(kind.toLowerCase());
  return faults.length === 0 ? [] : [`may have mixed case, but should otherwise match: ${faults.join(",")}`];
}

function metadataFaults(metadata: Json, at: FieldPath): readonly FieldError[] {
  try {
    const meta = decode(objectMetaSchema(), metadata).value as unknown as ObjectMeta;
    // An embedded object need not have a name, but a name must be valid.
    const named = meta.name ? meta : { ...meta, name: "fakename" };
    const rules = { namespaced: Boolean(meta.namespace), validateName: pathSegmentFaults };
    return validateObjectMeta(named, rules, at);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return [invalid(at, metadata, error.message)];
  }
}

function pathSegmentFaults(name: string, isPrefix: boolean): readonly string[] {
  if (!isPrefix && (name === "." || name === "..")) return [`may not be '${name}'`];
  return ["/", "%"].filter((char) => name.includes(char)).map((char) => `may not contain '${char}'`);
}
