/** Paths in definitions that refer to a field: `.spec.color`, `.spec['x.y']`. They are resolved along the schema. */
import { table } from "#base";
import { at, type FieldPath } from "../../machinery/errors/field-error.ts";
import { isObject } from "../../machinery/json/json.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";

export class FieldReferenceError extends Error {
  override readonly name = "FieldReferenceError";
}

export interface FieldReference {
  readonly path: FieldPath;
  /** The first step. */
  readonly root: string;
  /** Undefined for a value without a schema. */
  readonly schema: JSONSchemaProps | undefined;
}

export interface ReferenceOptions {
  /** Whether `['…']` is allowed besides `.…`. Default: true. */
  readonly brackets?: boolean;
}

/** Throws a FieldReferenceError. */
export function fieldReference(
  text: string,
  schema: JSONSchemaProps,
  { brackets = true }: ReferenceOptions = {},
): FieldReference {
  const tokens = tokensOf(text);
  const take = (): string => {
    const token = tokens.shift();
    if (token === undefined) throw new FieldReferenceError("unexpected end of JSON path");
    return token;
  };
  let reference: { path: FieldPath; root: string; schema: JSONSchemaProps | undefined } = {
    path: at(),
    root: "",
    schema,
  };
  while (tokens.length > 0) {
    const token = take();
    if (token === ".") reference = step(reference, take());
    else if (token === "[") {
      if (!brackets) throw new FieldReferenceError("array notation is not allowed");
      reference = step(reference, unquoted(take()));
      const end = take();
      if (end !== "]") throw new FieldReferenceError(`expected ] but got ${end}`);
    } else throw new FieldReferenceError(`expected [ or . but got: ${token}`);
  }
  return reference;
}

/** `.`, `[` and `]` are tokens; a quoted string is one token. */
function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text[at] === "'" ? quoteEnd(text, at) : plainEnd(text, at);
    tokens.push(text.slice(at, end));
    at = end;
  }
  return tokens;
}

function quoteEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) if (text[at] === "'" && text[at - 1] !== "\\") return at + 1;
  return text.length;
}

function plainEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && !".[]".includes(text[at] ?? "")) at++;
  return Math.max(at, from + 1);
}

const escapes: Readonly<Record<string, string>> = table({
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
});

function unquoted(token: string): string {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'"))
    throw new FieldReferenceError(`expected single quoted string but got ${token}`);
  return token.slice(1, -1).replace(/\\./g, (sequence) => {
    const char = escapes[sequence.charAt(1)];
    if (char === undefined) throw new FieldReferenceError(`invalid string literal: invalid escape char ${sequence}`);
    return char;
  });
}

function step({ path, root, schema }: FieldReference, name: string): FieldReference {
  const further = { root: root === "" ? name : root };
  const { properties = {}, additionalProperties } = schema ?? {};
  if (Object.keys(properties).length > 0) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) throw new FieldReferenceError("does not refer to a valid field");
    return { ...further, path: path.child(name), schema: property };
  }
  if (additionalProperties === undefined) throw new FieldReferenceError("does not refer to a valid field");
  const values = isObject(additionalProperties) ? (additionalProperties as JSONSchemaProps) : undefined;
  return { ...further, path: path.key(name), schema: values };
}
