/** Size limits and immutability of ConfigMap and Secret. */

import { type FieldError, forbidden } from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";
import { sentEmpty } from "../machinery/json/sent-empty.ts";

export const maxDataBytes = 1024 * 1024;

interface Sealable {
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** `immutable` cannot be unset; the object can be deleted. */
export function changedSealed(
  next: Sealable,
  old: Sealable,
  fields: readonly ("data" | "binaryData")[],
): readonly FieldError[] {
  if (old.immutable !== true) return [];
  const why = "field is immutable when `immutable` is set";
  const errors: FieldError[] = [];
  if (next.immutable !== true) errors.push(forbidden("immutable", why));
  for (const field of fields) {
    // Kubernetes tells an empty map from none here.
    const after = next[field] ?? sentEmpty(next, field);
    if (!equalJson(after as Json | undefined, old[field] as Json | undefined)) errors.push(forbidden(field, why));
  }
  return errors;
}

/** The decoded length of base64, without decoding it. Null is none. */
export function bytesOf(base64: string | null): number {
  if (base64 === null) return 0;
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor(base64.length / 4) * 3 - padding;
}

const encoder = new TextEncoder();

export function textBytes(text: string): number {
  return encoder.encode(text).length;
}

/**
 * Whether strings together take more UTF-8 bytes than the limit. A UTF-16 code unit takes at most three bytes, so most
 * need no counting.
 */
export function areLonger(texts: readonly string[], maxBytes: number): boolean {
  let units = 0;
  for (const text of texts) units += text.length;
  return units * 3 > maxBytes && texts.reduce((sum, text) => sum + textBytes(text), 0) > maxBytes;
}
