/** What a PATCH sends: its media types, and how its body is parsed. */
import {
  badRequest,
  CborError,
  DecodeError,
  decode,
  decodeCbor,
  hasDuplicateKeys,
  isObject,
  type Json,
  type JsonObject,
  JsonSyntaxError,
  jsonKind,
  type ObjectSchema,
  type ParsedYaml,
  parseDocument,
  parseYaml,
  type TextFacts,
  unmarshalText,
  YamlSyntaxError,
} from "#api";

export const JSON_PATCH = "application/json-patch+json";
export const MERGE_PATCH = "application/merge-patch+json";
export const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
export const APPLY_PATCH = "application/apply-patch+yaml";
export const APPLY_CBOR_PATCH = "application/apply-patch+cbor";

/** A patch as it was sent. */
export interface SentPatch {
  /** Absent for clients in this process, which send values: these have no duplicate fields. */
  readonly text?: string;
  readonly facts?: TextFacts;
  readonly value: Json;
}

export function parsePatch(type: string, text: string): SentPatch {
  try {
    return { text, ...parseDocument(text) };
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(prefixOf(type) + error.message);
    throw error;
  }
}

export function prefixOf(type: string): string {
  return type === STRATEGIC_PATCH ? "" : "error decoding patch: ";
}

export interface Applied {
  readonly value: JsonObject;
  /** What strict decoding says of keys that are there twice. */
  readonly duplicates: string | undefined;
}

/** Checks types only: fields that the schema does not know are refused by apply itself. */
export function parseApplied(bytes: Buffer, schema: ObjectSchema, strict: boolean): Applied {
  try {
    const { value, duplicates } = jsonOrYaml(bytes.toString("utf8"), strict);
    if (!isObject(value)) throw badRequest(`error decoding YAML: ${unmarshalText(value, "map[string]interface {}")}`);
    decode(schema, value, { from: "maps" });
    return { value, duplicates };
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw badRequest(`error decoding YAML: ${error.message}`);
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
}

/** Keys that are there twice make CBOR invalid: there is nothing left to warn of. */
export function parseAppliedCbor(bytes: Buffer, schema: ObjectSchema): Applied {
  try {
    // Without the schema: bytes are base64 here, as in the JSON of a configuration.
    const value = decodeCbor(bytes);
    if (!isObject(value)) throw badRequest(`error decoding CBOR: ${cborKind(value)}`);
    decode(schema, value, { from: "maps" });
    return { value, duplicates: undefined };
  } catch (error) {
    if (error instanceof CborError) throw badRequest(`error decoding CBOR: ${error.message}`);
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
}

function cborKind(value: Json): string {
  return `cbor: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`;
}

/** Most clients send JSON, which is YAML that is parsed much faster. */
function jsonOrYaml(text: string, strict: boolean): ParsedYaml {
  if (text.trimStart().startsWith("{")) {
    try {
      const { value, facts } = parseDocument(text);
      if (!strict || !hasDuplicateKeys(text, value, facts)) return { value, duplicates: undefined };
    } catch {
      // A flow mapping of YAML, or neither: the YAML parser has the message.
    }
  }
  return parseYaml(text);
}
