/**
 * Operations → the JSON of OpenAPI v2.
 *
 * 1. A parameter that does not depend on a kind is written once for the whole document, under a name derived from its
 *    content. Clients look for dryRun and fieldValidation in operations, so these two stay there.
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "#api";
import {
  type Content,
  isSame,
  METHODS,
  type Operation,
  type Parameter,
  type PathOperations,
  REASONS,
  sharedParameters,
} from "./operation.ts";
import type { DocumentInfo } from "./render-v3.ts";
import { REF_PREFIX } from "./type-schema.ts";

const IN_PLACE = new Set(["name", "dryRun", "fieldValidation"]);
const SHARED_BODY = "io.k8s.apimachinery";

/** The texts of a group and version, made once and joined into the one document. */
export interface FragmentV2 {
  readonly paths: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, string>;
}

export function fragmentV2(paths: readonly PathOperations[], types: ReadonlyMap<string, string>): FragmentV2 {
  const parameters = new SharedParameters();
  const shown = paths.map((it) => `${JSON.stringify(it.path)}:${JSON.stringify(pathItem(it, parameters))}`);
  return { paths: shown.join(), parameters: parameters.texts, types };
}

/** Fragments in the order of their paths. */
export function documentV2(info: DocumentInfo, fragments: readonly FragmentV2[]): string {
  const merged = (part: "parameters" | "types") =>
    [...new Map(fragments.flatMap((fragment) => [...fragment[part]]))]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
      .join();
  return (
    `{"swagger":"2.0","info":${JSON.stringify(info)},"paths":{${fragments.map(({ paths }) => paths).join()}},` +
    `"definitions":{${merged("types")}},"parameters":{${merged("parameters")}},${SECURITY}}`
  );
}

const SECURITY =
  '"securityDefinitions":{"BearerToken":{"description":"Bearer Token authentication","type":"apiKey","name":"authorization","in":"header"}},' +
  '"security":[{"BearerToken":[]}]';

class SharedParameters {
  readonly texts = new Map<string, string>();

  reference(name: string, parameter: JsonObject): JsonObject {
    const text = JSON.stringify(parameter);
    const key = `${name}-${createHash("sha256").update(text).digest("base64url").slice(0, 8)}`;
    this.texts.set(key, text);
    return { $ref: `#/parameters/${key}` };
  }
}

function pathItem(path: PathOperations, parameters: SharedParameters): JsonObject {
  const shared = sharedParameters(path);
  const operations = METHODS.flatMap((method) => path.operations.filter((it) => it.method === method));
  return {
    ...Object.fromEntries(operations.map((it) => [it.method, operation(it, shared, parameters)])),
    ...(shared.length > 0 ? { parameters: shared.map((it) => parameter(it, parameters)) } : {}),
  };
}

function operation(it: Operation, shared: readonly Parameter[], parameters: SharedParameters): JsonObject {
  const own = it.parameters
    .filter((one) => !shared.some((other) => isSame(one, other)))
    .map((one) => parameter(one, parameters));
  if (it.body !== undefined) own.unshift(body(it.body, parameters));
  return {
    description: it.description,
    ...(it.consumes === undefined ? {} : { consumes: it.consumes }),
    produces: it.produces,
    schemes: ["https"],
    tags: [it.tag],
    operationId: it.id,
    ...(own.length > 0 ? { parameters: own } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(it.responses).map(([code, answer]) => [
          code,
          { description: REASONS[code] ?? "", schema: schemaOf(answer) },
        ]),
      ),
      401: { description: REASONS[401] ?? "" },
    },
    ...(it.action === undefined ? {} : { "x-kubernetes-action": it.action }),
    ...(it.gvk === undefined ? {} : { "x-kubernetes-group-version-kind": gvkOf(it.gvk) }),
  };
}

function parameter(it: Parameter, parameters: SharedParameters): JsonObject {
  const { name, in: place, type, description } = it;
  const shown = {
    uniqueItems: true,
    type,
    ...(description === undefined ? {} : { description }),
    name,
    in: place,
    ...(place === "path" ? { required: true } : {}),
  };
  return IN_PLACE.has(name) ? shown : parameters.reference(name, shown);
}

function body({ typeName, required }: { typeName: string; required: boolean }, parameters: SharedParameters) {
  const schema = schemaOf({ typeName });
  const shown = { name: "body", in: "body", ...(required ? { required } : {}), schema };
  return typeName.startsWith(SHARED_BODY) ? parameters.reference("body", shown) : shown;
}

function schemaOf(answer: Content): JsonObject {
  return answer === "text" ? { type: "string" } : { $ref: REF_PREFIX.v2 + answer.typeName };
}

function gvkOf({ group, version, kind }: { group: string; version: string; kind: string }): JsonObject {
  return { group, kind, version };
}
