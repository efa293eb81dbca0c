/**
 * Reads configuration files: one object in YAML or JSON.
 *
 * 1. Unknown fields are errors: a misspelt rule must not become a missing one.
 */
import { type FieldError, type FieldPath, field, isObject, type Json, type JsonObject, parseYaml } from "#api";

/** Throws `error` with a sentence for the user if the text is not an object. */
export function documentOf(
  text: string,
  file: string,
  error: new (message: string, options?: ErrorOptions) => Error,
): JsonObject {
  try {
    const { value } = parseYaml(text);
    if (isObject(value)) return value;
  } catch (cause) {
    throw new error(`${file}: ${(cause as Error).message}.`, { cause });
  }
  throw new error(`${file} holds no object.`);
}

export function onlyFields(object: JsonObject, known: readonly string[], path: FieldPath, errors: FieldError[]): void {
  for (const name of Object.keys(object)) {
    if (!known.includes(name)) errors.push(field.forbidden(path.child(name), "unknown field"));
  }
}

export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

export function objectOf(value: Json | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {};
}
