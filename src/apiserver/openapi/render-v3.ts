/** Operations → the JSON of OpenAPI v3. */
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
import { REF_PREFIX } from "./type-schema.ts";

export interface DocumentInfo {
  readonly title: string;
  readonly version: string;
}

export function documentV3(
  info: DocumentInfo,
  paths: readonly PathOperations[],
  types: ReadonlyMap<string, string>,
): string {
  const schemas = [...types].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join();
  const shown = paths.map((it) => `${JSON.stringify(it.path)}:${JSON.stringify(pathItem(it))}`).join();
  return (
    `{"openapi":"3.0.0","info":${JSON.stringify(info)},"paths":{${shown}},"components":{` +
    `${schemas === "" ? "" : `"schemas":{${schemas}},`}"securitySchemes":${JSON.stringify(SECURITY)}}}`
  );
}

const SECURITY: JsonObject = {
  BearerToken: { type: "apiKey", description: "Bearer Token authentication", name: "authorization", in: "header" },
};

function pathItem(path: PathOperations): JsonObject {
  const shared = sharedParameters(path);
  const operations = METHODS.flatMap((method) => path.operations.filter((it) => it.method === method));
  return {
    ...Object.fromEntries(operations.map((it) => [it.method, operation(it, shared)])),
    ...(shared.length > 0 ? { parameters: shared.map(parameter) } : {}),
  };
}

function operation(it: Operation, shared: readonly Parameter[]): JsonObject {
  const own = it.parameters.filter((one) => !shared.some((other) => isSame(one, other)));
  return {
    tags: [it.tag],
    description: it.description,
    operationId: it.id,
    ...(own.length > 0 ? { parameters: own.map(parameter) } : {}),
    ...(it.body === undefined ? {} : { requestBody: requestBody(it.body, it.consumes ?? []) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(it.responses).map(([code, answer]) => [
          code,
          { description: REASONS[code] ?? "", content: content(it.produces, answer) },
        ]),
      ),
      401: { description: REASONS[401] ?? "" },
    },
    ...(it.action === undefined ? {} : { "x-kubernetes-action": it.action }),
    ...(it.gvk === undefined ? {} : { "x-kubernetes-group-version-kind": { ...it.gvk } }),
  };
}

function parameter({ name, in: place, type, description }: Parameter): JsonObject {
  return {
    name,
    in: place,
    ...(description === undefined ? {} : { description }),
    ...(place === "path" ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  };
}

function requestBody({ typeName, required }: { typeName: string; required: boolean }, types: readonly string[]) {
  return { content: content(types, { typeName }), ...(required ? { required } : {}) };
}

function content(types: readonly string[], answer: Content): JsonObject {
  const schema = answer === "text" ? { type: "string" } : { $ref: REF_PREFIX.v3 + answer.typeName };
  return Object.fromEntries([...types].sort().map((type) => [type, { schema }]));
}
