/** What rules see of a node: its CEL type, found on the way down from that of the whole, so that large schemas are not typed again for each of their rules. */
import { escapeName, typeFromSchema, type types } from "../../machinery/cel/index.ts";
import type { JsonObject } from "../../machinery/json/json.ts";
import type { Structural } from "../schema/structural.ts";

export type CelType = types.Type;

/** Undefined if rules can see nothing of it. */
export function rootType(node: Structural, isResource: boolean): CelType | undefined {
  return typeFromSchema(node.source as unknown as JsonObject, { name: "self", resource: isResource });
}

export function fieldType(parent: CelType | undefined, name: string, field: Structural): CelType | undefined {
  const escaped = escapeName(name);
  // What cannot be named cannot be reached from above, but has rules of its own.
  if (escaped === undefined) return rootType(field, field.embedded);
  return parent?.kind === "object" ? parent.fields.get(escaped)?.type : undefined;
}

export function itemType(parent: CelType | undefined): CelType | undefined {
  return parent?.kind === "list" ? parent.element : undefined;
}

export function entryType(parent: CelType | undefined): CelType | undefined {
  return parent?.kind === "map" ? parent.value : undefined;
}
