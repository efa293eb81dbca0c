/**
 * Request bodies in CBOR, where the feature gate CBORServingAndStorage is on.
 *
 * What is not well-formed has no kind; what is not acceptable is no object of its kind. Strict decoding says no more of
 * an unknown field of a built-in kind than its place.
 */
import {
  badRequest,
  CborError,
  decodeCbor,
  type Json,
  type ObjectSchema,
  printable,
  unknownField,
  unknownFieldIndex,
} from "#api";
import type { Body } from "./body.ts";
import { unrecognized } from "./unrecognized.ts";

/** `what`: the kind in messages. `cannotBe`: how they say that something is not an object of it. */
export function parseCborBody(
  bytes: Buffer,
  schema: ObjectSchema,
  what: string,
  cannotBe: (why: string) => string,
): Body {
  let value: Json;
  try {
    value = decodeCbor(bytes, schema);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    if (!error.isMalformed) throw badRequest(cannotBe(error.message));
    throw unrecognized(what, `unable to determine group/version/kind: ${error.message}`, bytes);
  }
  return {
    value,
    strict: (unknown) => {
      if (schema.goType === undefined) return printable(unknown).map(unknownField);
      const index = unknown.length === 0 ? undefined : unknownFieldIndex(schema, value);
      return index === undefined ? [] : [`cbor: found unknown field at map element index ${index}`];
    },
  };
}
