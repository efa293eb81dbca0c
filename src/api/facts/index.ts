/** The public surface of facts. */
import { equalJson } from "../machinery/json/equal.ts";
import type { Int64, Json } from "../machinery/json/json.ts";
import type { ObjectSchema } from "../machinery/schema/schema.ts";
import { formOf, formOfField } from "./internal-form.ts";
import { kinds, optionalKinds } from "./kinds.ts";
import { typeTable } from "./table.ts";
import { tables } from "./tables/index.ts";

export {
  type KindFacts,
  kinds,
  type Lifecycle,
  optionalKinds,
  type StorageFacts,
  type SubresourceFacts,
  storageVersionHash,
} from "./kinds.ts";
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

/**
 * Whether a version of the API has objects of this name, those without a resource of their own included (PodList) and
 * those that are not served.
 */
export function isTypeOf(apiVersion: string, name: string): boolean {
  const home = [...kinds(), ...optionalKinds()].find(
    ({ group, version }) => apiVersion === (group === "" ? version : `${group}/${version}`),
  );
  const type = home?.typeName.replace(/[^.]+$/, name) ?? "";
  return type.startsWith("io.k8s.api.") && builtIn.names().includes(type) && typeSchema(type).fields.has("apiVersion");
}

/**
 * A value as messages of Kubernetes print it: in its internal Go type. `type` is the type of the API, such as
 * core.v1.PodSpec; without a value it is null, a nil pointer.
 */
export function internalForm(type: string, value: object | undefined): Json {
  return formOf(apiType(type), value as Json | undefined);
}

/** As internalForm prints a stored object, which has no empty lists and maps. */
export function storedForm(type: string, value: object | undefined): Json {
  return formOf(apiType(type), value as Json | undefined, true);
}

/** Whether two values of a type are equal in Go. An empty list equals none. */
export function sameInternally(type: string, a: object | undefined, b: object | undefined): boolean {
  return equalJson(storedForm(type, a), storedForm(type, b));
}

/** internalForm for a field of a type: without a value it is what Go has there, such as "" for a plain string. */
export function internalField(type: string, name: string, value: object | string | Int64 | boolean | undefined): Json {
  return formOfField(apiType(type), name, value as Json | undefined);
}

function apiType(type: string): ObjectSchema {
  return typeSchema(`io.k8s.api.${type}`);
}
