/**
 * What an object of a kind looks like before anybody wrote anything into it: the structures that Go always writes, and nothing else. A
 * create is compared with it, so that nobody owns `spec` itself by creating an object that has one.
 */
import type { JsonObject } from "../json/json.ts";
import { onceForEach } from "../schema/memo.ts";
import type { ObjectSchema } from "../schema/schema.ts";
import { zeroValue } from "../schema/zero.ts";

/** Of a custom resource: nothing, because no Go type stands behind it. */
export const zeroObject: (schema: ObjectSchema) => JsonObject = onceForEach(
  (schema) => zeroValue(schema) as JsonObject,
);
