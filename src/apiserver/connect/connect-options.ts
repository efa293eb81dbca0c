/** The options of a CONNECT as an object for admission: PodExecOptions and the like, from the query and the path. */
import { type JsonObject, type KubeObject, type Schema, typeSchema } from "#api";
import { isTrue } from "../http/request-info.ts";
import type { RestRequest } from "../rest/rest-request.ts";

/** Undefined if the subresource has none. `path`: that of the whole request. */
export function connectOptions({ resource, subresource, query }: RestRequest, path: string): KubeObject | undefined {
  const served = resource.kind.served.find(({ name }) => name === subresource);
  if (served === undefined) return undefined;
  const options: Record<string, JsonObject[string]> = { kind: served.kind, apiVersion: served.version };
  for (const [name, { schema }] of typeSchema(served.typeName).fields) {
    if (name === "kind" || name === "apiVersion") continue;
    const value = name === "path" ? behind(path, subresource) : optionOf(schema, query.getAll(name));
    if (value !== undefined) options[name] = value;
  }
  return options as unknown as KubeObject;
}

function optionOf(schema: Schema, given: readonly string[]): JsonObject[string] | undefined {
  const [first] = given;
  if (first === undefined) return undefined;
  switch (schema.type) {
    case "list":
      return given.map((each) => optionOf(schema.items, [each]) ?? null);
    case "boolean":
      return isTrue(first);
    case "int32":
      return Number(first);
    default:
      return first;
  }
}

/** The path behind the subresource, with its leading slash. */
function behind(path: string, subresource: string): string | undefined {
  const at = path.indexOf(`/${subresource}/`);
  return at < 0 ? undefined : path.slice(at + subresource.length + 1);
}
