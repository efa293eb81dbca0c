/** Whether a call and its answer are as an OpenAPI document says: as much of it as docs/cloud-provider.openapi.yaml uses. */
import type { Exchange } from "./index.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
}

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
type Document = any;

export function problemsOf({ method, url, headers, body, status, answer }: Exchange, document: Document): string[] {
  const call = `${method} ${url.pathname}`;
  const path = Object.keys(document.paths).find((each) =>
    new RegExp(`^${each.replace(/\{\w+\}/g, "[^/]+")}$`).test(url.pathname),
  );
  const operation = path === undefined ? undefined : document.paths[path][method.toLowerCase()];
  if (operation === undefined) return [`${call} is not documented`];
  const resolve = (value: Document) => (value?.$ref === undefined ? value : at(value.$ref, document));
  const parameters = (operation.parameters ?? []).map(resolve) as Document[];
  const query = new Set(parameters.filter((each) => each.in === "query").map(({ name }) => name));
  const missing = parameters.filter(({ required = false, ...parameter }) => {
    if (!required) return false;
    return parameter.in === "query"
      ? !url.searchParams.has(parameter.name)
      : headers[parameter.name.toLowerCase()] === undefined;
  });
  const response = resolve(operation.responses[status] ?? operation.responses.default);
  const schemaOf = (content: Document) => content?.["application/json"]?.schema as Schema | undefined;
  const problems = [
    ...missing.map(({ name }) => `lacks ${name}`),
    ...[...url.searchParams.keys()].filter((name) => !query.has(name)).map((name) => `${name} is not documented`),
    ...mismatches(body, schemaOf(operation.requestBody?.content), document, "body"),
    ...mismatches(answer, schemaOf(response?.content), document, "answer"),
  ];
  return problems.map((problem) => `${call}: ${problem}`);
}

function mismatches(value: unknown, schema: Schema | undefined, document: Document, path: string): string[] {
  if (schema?.$ref !== undefined) return mismatches(value, at(schema.$ref, document), document, path);
  if (schema === undefined) return value === undefined ? [] : [`${path} is not documented`];
  const { type, properties = {}, required = [], additionalProperties = true, items } = schema;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${path} is ${String(value)}`];
  if (type === "array")
    return Array.isArray(value)
      ? value.flatMap((item, index) => mismatches(item, items, document, `${path}[${index}]`))
      : [`${path} is not a list`];
  if (type === "object") {
    if (typeof value !== "object" || value === null) return [`${path} is not an object`];
    const fields = value as Readonly<Record<string, unknown>>;
    return [
      ...required.filter((name) => fields[name] === undefined).map((name) => `${path} lacks ${name}`),
      ...Object.entries(fields).flatMap(([name, field]) => {
        const known = properties[name] ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
        if (known !== undefined) return mismatches(field, known, document, `${path}.${name}`);
        return additionalProperties === false ? [`${path}.${name} is not documented`] : [];
      }),
    ];
  }
  const isRight = type === undefined || typeof value === type || (type === "integer" && Number.isInteger(value));
  return isRight ? [] : [`${path} is not of the type ${type}`];
}

function at(reference: string, document: Document): Document {
  return reference
    .slice(2)
    .split("/")
    .reduce((value: Document, name) => value[name], document);
}
