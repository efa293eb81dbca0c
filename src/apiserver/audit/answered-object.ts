/** The object of an answer, as JSON for an event: its bytes where these are JSON already. */
import {
  decodeCbor,
  decodeEnvelope,
  decodeProtobuf,
  type Json,
  type JsonObject,
  type Kind,
  type ObjectSchema,
  parseJson,
  parseYaml,
  typeSchema,
  writeJson,
} from "#api";
import { type ApiResponse, isStream } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { CBOR_TYPE, JSON_TYPE, mediaType, PROTOBUF_TYPE, YAML_TYPE } from "../rest/body.ts";

const STATUS_START = Buffer.from('{"kind":"Status"');
const STATUS_TYPE = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
/** Only these verbs may be answered with a Status of success. */
const STATUS_VERBS = new Set(["create", "delete", "deletecollection"]);
const NEWLINE = 10;

/** responseStatus: as JSON if the answer is a Status, else only its code. */
export function statusOf(response: ApiResponse, { verb }: RequestInfo): string | number {
  const status = response.status >= 400 || STATUS_VERBS.has(verb) ? statusIn(response) : undefined;
  if (status === undefined) return response.status;
  const { status: outcome, message, reason, details } = status;
  const shown = {
    metadata: {},
    ...(outcome !== undefined && { status: outcome }),
    ...(message !== undefined && { message }),
    ...(reason !== undefined && { reason }),
    ...(details !== undefined && !isEmpty(details) && { details }),
    code: response.status,
  };
  return writeJson(shown);
}

/** Undefined if the answer has no object: a stream, plain text, an OpenAPI document. */
export function answeredObject(
  response: ApiResponse,
  info: RequestInfo,
  kind: Kind | undefined,
  omitManagedFields: boolean,
): readonly (string | Buffer)[] | undefined {
  if (isStream(response) || response.body.length === 0) return undefined;
  const type = contentType(response);
  if (!info.isResourceRequest && !info.path.startsWith("/api")) return undefined;
  if (type === JSON_TYPE && !omitManagedFields && !isPretty(response.body)) return withoutNewline(response.body);
  const value = valueIn(response.body, type, kind);
  if (value === undefined) return undefined;
  return [writeJson(omitManagedFields ? withoutManagedFields(value) : value)];
}

export function withoutManagedFields(value: Json): Json {
  const object = value as {
    readonly metadata?: JsonObject;
    readonly items?: readonly Json[];
    readonly rows?: readonly JsonObject[];
  };
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  return {
    ...object,
    ...(object.metadata !== undefined && { metadata }),
    ...(object.items !== undefined && { items: object.items.map(withoutManagedFields) }),
    ...(object.rows !== undefined && {
      rows: object.rows.map((row) => ({
        ...row,
        ...(row.object != null && { object: withoutManagedFields(row.object) }),
      })),
    }),
  } as Json;
}

function statusIn(response: ApiResponse): JsonObject | undefined {
  if (isStream(response)) return undefined;
  const [first] = response.body;
  const type = contentType(response);
  if (first === undefined) return undefined;
  if (type === JSON_TYPE && STATUS_START.compare(first, 0, STATUS_START.length) !== 0) return undefined;
  const value = valueIn(response.body, type, undefined) as JsonObject | undefined;
  return value?.kind === "Status" ? value : undefined;
}

function valueIn(body: readonly Buffer[], type: string, kind: Kind | undefined): Json | undefined {
  const bytes = body.length === 1 && body[0] !== undefined ? body[0] : Buffer.concat(body);
  switch (type) {
    case JSON_TYPE:
      return parseJson(bytes.toString());
    case YAML_TYPE:
      return parseYaml(bytes.toString()).value;
    case CBOR_TYPE:
      // Bytes with their tag become base64; an own list may be of any length.
      return decodeCbor(bytes, undefined, Number.POSITIVE_INFINITY);
    case PROTOBUF_TYPE: {
      const { apiVersion, kind: name, raw } = decodeEnvelope(bytes);
      const schema = schemaOf(name, kind);
      return schema && { kind: name, apiVersion, ...(decodeProtobuf(schema, raw) as JsonObject) };
    }
    default:
      return undefined;
  }
}

function schemaOf(name: string, kind: Kind | undefined): ObjectSchema | undefined {
  if (name === "Status") return typeSchema(STATUS_TYPE);
  const own = kind?.schema.goType;
  if (kind === undefined || own === undefined) return undefined;
  return name === kind.kind ? kind.schema : typeSchema(own.slice(0, own.lastIndexOf(".") + 1) + name);
}

function contentType({ headers }: ApiResponse): string {
  const type = headers["content-type"];
  return typeof type === "string" ? mediaType(type) : "";
}

function isPretty([first]: readonly Buffer[]): boolean {
  return first?.[1] === NEWLINE;
}

function withoutNewline(body: readonly Buffer[]): readonly Buffer[] {
  const last = body.at(-1);
  return last?.at(-1) === NEWLINE ? [...body.slice(0, -1), last.subarray(0, -1)] : body;
}

function isEmpty(value: Json): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
