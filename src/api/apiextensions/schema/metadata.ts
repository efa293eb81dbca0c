/** Decodes metadata, at the root of a custom object and inside of embedded resources. */
import { typeSchema } from "../../facts/index.ts";
import { isObject, type Json } from "../../machinery/json/json.ts";
import type { OpenObject } from "../../machinery/json/own-key.ts";
import { type Decoded, DecodeError, decode } from "../../machinery/schema/decode.ts";
import type { ObjectSchema } from "../../machinery/schema/schema.ts";

export function objectMetaSchema(): ObjectSchema {
  return typeSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
}

/** Throws a DecodeError, unless `lenient`: then fields that cannot be decoded are dropped. */
export function decodeMeta(metadata: Json, lenient: boolean): Decoded {
  const schema = objectMetaSchema();
  try {
    return decode(schema, metadata);
  } catch (error) {
    if (!lenient || !(error instanceof DecodeError)) throw error;
    return readable(schema, isObject(metadata) ? Object.entries(metadata) : []);
  }
}

function readable(schema: ObjectSchema, fields: readonly (readonly [string, Json])[]): Decoded {
  const value: OpenObject = {};
  const unknown: string[] = [];
  for (const [name, field] of fields) {
    try {
      const read = decode(schema, { [name]: field });
      Object.assign(value, read.value);
      unknown.push(...read.unknown);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  return { value, unknown };
}
