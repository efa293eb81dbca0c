/**
 * An OpenAPI v2 document in protobuf, as the openapi.v2 messages of gnostic have it: what client-go's OpenAPISchema()
 * asks for.
 *
 * 1. A table for each message: the name in JSON, the number of the field, how its value is written. What is not in a
 *    table is not written; names that begin with x- go to the field for extensions.
 * 2. Values of any form are carried as YAML, and JSON is YAML.
 * 3. The writer works from the last byte to the first, so every function here writes its last field first.
 */
import { isInt64, isObject, type Json, type JsonObject, ProtobufWriter, writeJson } from "#api";

/** Writes a value as the field with this number; writes nothing if the value does not have the right type. */
type Write = (out: ProtobufWriter, number: number, value: Json) => void;
type Fields = Readonly<Record<string, readonly [number: number, write: Write]>>;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

const text: Write = (out, number, value) => {
  if (typeof value === "string") writeText(out, number, value);
};
const flag: Write = (out, number, value) => {
  if (value === true) writeInteger(out, number, 1);
};
const integer: Write = (out, number, value) => {
  if (isInt64(value) && value > 0) writeInteger(out, number, Number(value));
};
const double: Write = (out, number, value) => {
  if (typeof value !== "number") return;
  out.double(value);
  out.tag(number, FIXED64);
};
const any: Write = (out, number, value) => {
  writeMessage(out, number, () => writeText(out, 2, writeJson(value)));
};

function writeText(out: ProtobufWriter, number: number, value: string): void {
  out.string(value);
  out.tag(number, BYTES);
}

function writeInteger(out: ProtobufWriter, number: number, value: number): void {
  out.varint(value);
  out.tag(number, VARINT);
}

function writeMessage(out: ProtobufWriter, number: number, content: () => void): void {
  const before = out.length;
  content();
  out.lengthSince(before);
  out.tag(number, BYTES);
}

/** Each item of a list by itself. */
const each =
  (write: Write): Write =>
  (out, number, value) => {
    if (Array.isArray(value)) for (const item of value.toReversed() as Json[]) write(out, number, item);
  };

/** A message around it, whose field `inner` it is. */
const within =
  (inner: number, write: Write): Write =>
  (out, number, value) =>
    writeMessage(out, number, () => write(out, inner, value));

/** A map: a message around pairs of name and value, which are its field `pairs`. */
const named =
  (write: Write, pairs = 1): Write =>
  (out, number, value) => {
    if (isObject(value)) writeMessage(out, number, () => writePairs(out, pairs, Object.entries(value), write));
  };

function writePairs(out: ProtobufWriter, number: number, pairs: readonly [string, Json][], write: Write): void {
  for (const [name, value] of pairs.toReversed()) {
    writeMessage(out, number, () => {
      write(out, 2, value);
      writeText(out, 1, name);
    });
  }
}

/** `fields` is a function because messages contain each other. */
const message =
  (fields: () => Fields, extensions: number): Write =>
  (out, number, value) => {
    if (isObject(value)) writeMessage(out, number, () => writeFields(out, value, fields(), extensions));
  };

function writeFields(out: ProtobufWriter, value: JsonObject, fields: Fields, extensions: number): void {
  const entries = Object.entries(value);
  const extended = entries.filter(([name]) => name.startsWith("x-"));
  writePairs(out, extensions, extended, any);
  for (const [name, item] of entries.toReversed()) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field !== undefined) field[1](out, field[0], item);
  }
}

const schema = message(() => SCHEMA, 31);
const texts = each(text);

const schemaOrFlag: Write = (out, number, value) => {
  if (typeof value === "boolean") writeMessage(out, number, () => writeInteger(out, 2, value ? 1 : 0));
  else within(1, schema)(out, number, value);
};

const SCHEMA: Fields = {
  $ref: [1, text],
  format: [2, text],
  title: [3, text],
  description: [4, text],
  default: [5, any],
  multipleOf: [6, double],
  maximum: [7, double],
  exclusiveMaximum: [8, flag],
  minimum: [9, double],
  exclusiveMinimum: [10, flag],
  maxLength: [11, integer],
  minLength: [12, integer],
  pattern: [13, text],
  maxItems: [14, integer],
  minItems: [15, integer],
  uniqueItems: [16, flag],
  maxProperties: [17, integer],
  minProperties: [18, integer],
  required: [19, texts],
  enum: [20, each(any)],
  additionalProperties: [21, schemaOrFlag],
  type: [22, within(1, text)],
  items: [23, within(1, schema)],
  properties: [25, named(schema)],
  example: [30, any],
};

/** Parameters of the query and the path differ only in two field numbers. */
const parameterFields = (type: number, uniqueItems: number): Fields => ({
  required: [1, flag],
  in: [2, text],
  description: [3, text],
  name: [4, text],
  type: [type, text],
  uniqueItems: [uniqueItems, flag],
});
const QUERY = parameterFields(6, 20);
const PATH = parameterFields(5, 19);
const BODY: Fields = {
  description: [1, text],
  name: [2, text],
  in: [3, text],
  required: [4, flag],
  schema: [5, schema],
};

const queryParameter = message(() => QUERY, 23);
const pathParameter = message(() => PATH, 22);
const bodyParameter = message(() => BODY, 6);

const parameter: Write = (out, number, value) => {
  if (!isObject(value)) return;
  if (value.in === "body") within(1, bodyParameter)(out, number, value);
  else within(2, value.in === "path" ? within(4, pathParameter) : within(3, queryParameter))(out, number, value);
};

const reference = message(() => ({ $ref: [1, text] }), 0);
const parameterOrReference: Write = (out, number, value) => {
  const referred = isObject(value) && value.$ref !== undefined;
  within(referred ? 2 : 1, referred ? reference : parameter)(out, number, value);
};

const RESPONSE: Fields = {
  description: [1, text],
  schema: [2, within(1, schema)],
};
const response: Write = within(
  1,
  message(() => RESPONSE, 5),
);

const OPERATION: Fields = {
  tags: [1, texts],
  description: [3, text],
  operationId: [5, text],
  produces: [6, texts],
  consumes: [7, texts],
  parameters: [8, each(parameterOrReference)],
  responses: [9, named(response)],
  schemes: [10, texts],
};
const operation = message(() => OPERATION, 13);

const PATH_ITEM: Fields = {
  get: [2, operation],
  put: [3, operation],
  post: [4, operation],
  delete: [5, operation],
  options: [6, operation],
  head: [7, operation],
  patch: [8, operation],
  parameters: [9, each(parameterOrReference)],
};

const API_KEY: Fields = { type: [1, text], name: [2, text], in: [3, text], description: [4, text] };

const DOCUMENT: Fields = {
  swagger: [1, text],
  info: [2, message(() => ({ title: [1, text], version: [2, text] }), 7)],
  paths: [
    8,
    named(
      message(() => PATH_ITEM, 10),
      2,
    ),
  ],
  definitions: [9, named(schema)],
  parameters: [10, named(parameter)],
  security: [12, each(named(within(1, texts)))],
  securityDefinitions: [
    13,
    named(
      within(
        2,
        message(() => API_KEY, 5),
      ),
    ),
  ],
};

export function protobufV2(document: JsonObject): Buffer {
  const out = new ProtobufWriter(1 << 16);
  writeFields(out, document, DOCUMENT, 16);
  return Buffer.from(out.finish());
}
