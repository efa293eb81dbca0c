/**
 * An empty object of a kind: the structures that Go always writes, and nothing else. A create is compared with it, so
 * that its writer does not own `spec` itself.
 */
import type { JsonObject } from "../json/json.ts";
import { onceForEach } from "../schema/memo.ts";
import type { ObjectSchema } from "../schema/schema.ts";
import { zeroValue } from "../schema/zero.ts";

/** Empty for a custom resource, which has no Go type. */
export const zeroObject: (schema: ObjectSchema) => JsonObject = onceForEach(
  (schema) => zeroValue(schema) as JsonObject,
);
