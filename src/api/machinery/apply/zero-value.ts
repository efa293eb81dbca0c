/**
 * What an object of a kind looks like before anybody wrote anything into it: the structures that Go always writes, and nothing else. A
 * create is compared with it, so that nobody owns `spec` itself by creating an object that has one.
 */
import type { JsonObject } from "../json/json.ts";
import type { ObjectSchema } from "../schema/schema.ts";
import { zeroValue } from "../schema/zero.ts";

const zeroObjects = new WeakMap<ObjectSchema, JsonObject>();

/** Of a custom resource: nothing, because no Go type stands behind it. */
export function zeroObject(schema: ObjectSchema): JsonObject {
  let zero = zeroObjects.get(schema);
  if (zero === undefined) {
    zero = zeroValue(schema) as JsonObject;
    zeroObjects.set(schema, zero);
  }
  return zero;
}
