/** The public surface of facts. */
import type { ObjectSchema } from "../machinery/schema/schema.ts";
import { typeTable } from "./table.ts";
import { tables } from "./tables/index.ts";

export { type KindFacts, kinds, type StorageFacts, type SubresourceFacts, storageVersionHash } from "./kinds.ts";
export { type TypeTable, typeTable } from "./table.ts";

const builtIn = typeTable(tables);

/** The structure of a built-in type, such as io.k8s.api.apps.v1.Deployment. */
export function typeSchema(name: string): ObjectSchema {
  return builtIn.schema(name);
}

/** The names of all built-in types. */
export function typeNames(): string[] {
  return builtIn.names();
}
