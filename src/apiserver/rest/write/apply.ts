/** PATCH with an applied configuration: server-side apply, as a proposal for the new object. */
import {
  apiVersionOf,
  applyConfiguration,
  badRequest,
  CborError,
  conflict,
  DecodeError,
  decode,
  decodeCbor,
  hasDuplicateKeys,
  isObject,
  type Json,
  type JsonObject,
  jsonKind,
  type ObjectSchema,
  type ParsedYaml,
  parseDocument,
  parseYaml,
  unmarshalText,
  YamlSyntaxError,
} from "#api";
import type { AnyDraft } from "../draft.ts";
import type { PatchOptions } from "../options.ts";
import type { RestRequest, Written } from "../rest-request.ts";
import { change } from "./change.ts";
import { ownershipContext } from "./ownership.ts";

export async function apply(
  request: RestRequest,
  bytes: Buffer,
  options: PatchOptions,
  isCbor = false,
): Promise<Written> {
  const { kind } = request.resource;
  const validates = options.fieldValidation !== "Ignore";
  const { value: applied, duplicates } = isCbor
    ? parseAppliedCbor(bytes, kind.schema)
    : parseApplied(bytes, kind.schema, validates);
  return change(request, {
    dryRun: options.dryRun,
    mayCreate: request.subresource === "",
    beforeCreate: () => refuseUid(applied, request),
    propose: async (current) => {
      const asked = {
        ...ownershipContext(request),
        kind: kind.kind,
        live: current as JsonObject | undefined,
        applied: named(applied, request),
        force: options.force,
      };
      const { forms } = request.resource;
      const result =
        forms === undefined
          ? applyConfiguration(asked)
          : await forms.converting((convert) => applyConfiguration({ ...asked, convert }));
      if (duplicates !== undefined) reportRepeated(duplicates, request, options);
      const { value } = decode(kind.schema, result.object, { from: "maps", keepsNull: true });
      const draft = value as unknown as AnyDraft;
      draft.kind = kind.kind;
      draft.apiVersion = apiVersionOf(kind);
      if (result.managedFields.length > 0) {
        draft.metadata.managedFields = result.managedFields as AnyDraft["metadata"]["managedFields"] & object;
      }
      return { draft, owned: true };
    },
  });
}

/** A configuration with a uid is about an object that exists. */
function refuseUid({ metadata }: JsonObject, { resource, name }: RestRequest): void {
  const uid = isObject(metadata) ? metadata.uid : undefined;
  if (uid === undefined || uid === null || uid === "") return;
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw conflict(resource.groupResource, name, why);
}

/** As Kubernetes does, after apply has found no fault of its own. */
export function reportRepeated(duplicates: string, { warn }: RestRequest, { fieldValidation }: PatchOptions): void {
  const fault = `error converting YAML to JSON: ${duplicates}`;
  if (fieldValidation === "Strict") throw badRequest(`error strict decoding YAML: ${fault}`);
  warn(fault);
}

/** The name comes from the path; the configuration must not name another. */
export function named(applied: JsonObject, { name }: RestRequest): JsonObject {
  const metadata = isObject(applied.metadata) ? applied.metadata : {};
  if (metadata.name !== undefined && metadata.name !== name) {
    throw badRequest(
      `metadata.name: the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  }
  return { ...applied, metadata: { ...metadata, name } };
}

interface Applied {
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
