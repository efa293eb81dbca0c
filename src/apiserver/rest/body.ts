/**
 * Request bodies: JSON, YAML or protobuf in, a decoded draft and the findings of strict decoding out.
 *
 * Unknown and duplicate fields are refused with fieldValidation Strict, warned of with Warn, and not looked for with
 * Ignore.
 */
import {
  apiVersionOf,
  badRequest,
  type Decoded,
  DecodeError,
  decode,
  decodeEnvelope,
  decodeProtobuf,
  field,
  invalidStatus,
  isEnvelope,
  isObject,
  isTypeOf,
  type Json,
  type JsonObject,
  JsonSyntaxError,
  jsonKind,
  type Kind,
  type ObjectSchema,
  ProtobufError,
  parseDocument,
  parseSpelled,
  parseYaml,
  printable,
  strictFieldErrors,
  typeSchema,
  unknownField,
  unsupportedMediaType,
  YamlSyntaxError,
} from "#api";
import type { Maybe } from "#base";
import { parseCborBody } from "./cbor-body.ts";
import type { AnyDraft } from "./draft.ts";
import type { WriteOptions } from "./options.ts";
import type { RestRequest } from "./rest-request.ts";
import { unrecognized } from "./unrecognized.ts";

export const JSON_TYPE = "application/json";
export const YAML_TYPE = "application/yaml";
export const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
export const CBOR_TYPE = "application/cbor";
export const BODY_TYPES = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];
const WITH_CBOR = [...BODY_TYPES, CBOR_TYPE];

/** `cbor`: the feature gate CBORServingAndStorage is on. */
export function bodyTypes(cbor: boolean): readonly string[] {
  return cbor ? WITH_CBOR : BODY_TYPES;
}

const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

export interface Body {
  readonly value: Json;
  /** Absent where the numbers have no spelling of their own. */
  readonly spelling?: Spelling;
  /** The faults that strict decoding finds, given the fields that decoding did not know. */
  strict(unknown: readonly string[]): readonly string[];
}

/** The numbers of a document as its text spells them. Go decodes by that: 1.0 and 1e3 are no integers. */
export interface Spelling {
  /** Whether a number has a fraction or an exponent. */
  readonly fractions: boolean;
  /** The document with its spelled numbers: see `parseSpelled`. */
  document(): Json;
}

/** What decoding needs of a kind; kinds that exist only at subresources have no more. */
export type BodyKind = Pick<Kind, "group" | "version" | "kind" | "schema">;

export interface DecodedBody {
  readonly draft: AnyDraft;
  readonly warnings: readonly string[];
}

/** Reads a body by its media type; JSON where none is named. */
export function parseBody(bytes: Buffer, contentType: string | undefined, what: string, cbor = false): Body {
  switch (mediaType(contentType)) {
    case JSON_TYPE:
      return parseJsonBody(bytes, what);
    case YAML_TYPE:
      return parseYamlBody(bytes, what);
    default:
      throw unsupportedMediaType(bodyTypes(cbor));
  }
}

/** Decodes the object that a request sends: its value if it has one, else its body. */
export function decodeSent(
  { value, body, contentType, cbor }: Pick<RestRequest, "value" | "body" | "contentType" | "cbor">,
  kind: BodyKind,
  validation: WriteOptions["fieldValidation"],
  warn?: (message: string) => void,
): Maybe<DecodedBody> {
  return (
    decodeSentValue(value, kind, validation) ??
    body().then((bytes) => decodeBody(bytes, contentType, kind, validation, warn, cbor))
  );
}

/** Undefined: what counts are the bytes. */
export function decodeSentValue(
  value: RestRequest["value"],
  kind: BodyKind,
  validation: WriteOptions["fieldValidation"],
): DecodedBody | undefined {
  const sent = kind.schema.goType === undefined ? undefined : value?.();
  // The error for a body of another type shows how the body begins, so that needs the bytes.
  if (sent === undefined || !isObject(sent) || !isOwnType(sent, kind)) return undefined;
  return decodeValue({ value: sent, strict: (unknown) => printable(unknown).map(unknownField) }, kind, validation);
}

function isOwnType({ apiVersion = "", kind: name = "" }: JsonObject, kind: BodyKind): boolean {
  return (apiVersion === "" || apiVersion === apiVersionOf(kind)) && (name === "" || name === kind.kind);
}

export function decodeBody(
  bytes: Buffer,
  contentType: string | undefined,
  kind: BodyKind,
  validation: WriteOptions["fieldValidation"],
  warn: (message: string) => void = () => {},
  cbor = false,
): DecodedBody {
  if (mediaType(contentType) === PROTOBUF_TYPE) {
    if (kind.schema.goType === undefined)
      throw unsupportedMediaType(bodyTypes(cbor).filter((type) => type !== PROTOBUF_TYPE));
    return { draft: decodeProtobufBody(bytes, kind), warnings: [] };
  }
  const parsed =
    cbor && mediaType(contentType) === CBOR_TYPE
      ? parseCborBody(bytes, kind.schema, kind.kind, (why) => cannotBeHandled(kind, why))
      : parseBody(bytes, contentType, kind.kind, cbor);
  // To Go, null is an object with nothing in it.
  const body = { ...parsed, value: parsed.value ?? {} };
  const fault = typeMetaFault(body.value);
  if (fault !== undefined || !isObject(body.value))
    throw unrecognized(
      kind.kind,
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${fault}`,
      bytes,
    );
  if (kind.schema.goType !== undefined) checkType(body.value, kind, bytes);
  else checkUntyped(body.value, kind, bytes, validation === "Warn" ? warn : () => {});
  return decodeValue(body, kind, validation);
}

/** Why apiVersion and kind cannot be read; null is none of either. */
export function typeMetaFault(value: Json): string | undefined {
  if (!isObject(value)) return `${jsonKind(value)} into Go value of type ${TYPE_META}`;
  const misfit = (name: string) => typeof (value[name] ?? "") !== "string";
  if (!misfit("apiVersion") && !misfit("kind")) return undefined;
  const first = Object.keys(value).find((name) => (name === "apiVersion" || name === "kind") && misfit(name)) ?? "";
  return `${jsonKind(value[first] ?? null)} into Go struct field .${first} of type string`;
}

/** Decodes a parsed or patched value into the kind's own form. */
export function decodeValue(body: Body, kind: BodyKind, validation: WriteOptions["fieldValidation"]): DecodedBody {
  try {
    const { value, unknown } = decodeSpelled(kind.schema, body.value, body.spelling);
    const faults = validation === "Ignore" ? [] : body.strict(unknown);
    if (validation === "Strict" && faults.length > 0)
      throw badRequest(cannotBeHandled(kind, `strict decoding error: ${faults.join(", ")}`));
    const draft = value as unknown as AnyDraft;
    draft.kind = kind.kind;
    draft.apiVersion = apiVersionOf(kind);
    return { draft, warnings: faults };
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(cannotBeHandled(kind, error.message));
    throw error;
  }
}

/** Decodes a document, and once more by its spelling where that may matter: to refuse a number, or to show it. */
export function decodeSpelled(schema: ObjectSchema, value: Json, spelling: Spelling | undefined): Decoded {
  if (spelling === undefined || schema.goType === undefined) return decode(schema, value);
  try {
    const decoded = decode(schema, value);
    if (spelling.fractions) decode(schema, spelling.document());
    return decoded;
  } catch (error) {
    if (error instanceof DecodeError) decode(schema, spelling.document());
    throw error;
  }
}

export function mediaType(contentType: string | undefined): string {
  if (contentType === JSON_TYPE) return JSON_TYPE;
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return type === "" ? JSON_TYPE : type;
}

function parseJsonBody(bytes: Buffer, what: string): Body {
  const text = bytes.toString("utf8");
  try {
    const { value, facts } = parseDocument(text);
    return {
      value,
      spelling: { fractions: facts.fractions, document: () => parseSpelled(text) },
      strict: (unknown) => printable(strictFieldErrors(text, value, printable(unknown), facts)),
    };
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw unrecognized(what, `couldn't get version/kind; json parse error: ${error.message}`, bytes);
    throw error;
  }
}

function parseYamlBody(bytes: Buffer, what: string): Body {
  try {
    const { value, duplicates } = parseYaml(bytes.toString("utf8"));
    // An empty document is an object with nothing in it.
    return {
      value: value ?? {},
      strict: (unknown) => [...(duplicates === undefined ? [] : [duplicates]), ...printable(unknown).map(unknownField)],
    };
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw unrecognized(what, error.message, bytes);
    throw error;
  }
}

function decodeProtobufBody(bytes: Buffer, kind: BodyKind): AnyDraft {
  const value = parseProtobufBody(bytes, kind.schema, kind.kind, (type) => checkType(type, kind, bytes));
  return decodeValue({ value, strict: () => [] }, kind, "Ignore").draft;
}

/** Reads an object of a type that is not a served kind, such as DeleteOptions or Scale. */
export function parseTyped(bytes: Buffer, contentType: string | undefined, typeName: string, cbor = false): Json {
  const what = typeName.slice(typeName.lastIndexOf(".") + 1);
  if (cbor && mediaType(contentType) === CBOR_TYPE)
    return typed(parseCborBody(bytes, typeSchema(typeName), what, (why) => why).value, typeName);
  if (mediaType(contentType) === PROTOBUF_TYPE) return parseProtobufBody(bytes, typeSchema(typeName), what);
  return typed(parseBody(bytes, contentType, what, cbor).value, typeName);
}

/** As `parseTyped`, for the options of a request: Kubernetes reads them with a scheme of their own. */
export function parseOptions(bytes: Buffer, contentType: string | undefined, typeName: string, cbor = false): Json {
  if (mediaType(contentType) !== JSON_TYPE) return parseTyped(bytes, contentType, typeName, cbor);
  const what = typeName.slice(typeName.lastIndexOf(".") + 1);
  let value: Json;
  try {
    value = parseDocument(bytes.toString("utf8")).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
  }
  const { kind = what, apiVersion = "v1" } = isObject(value) ? value : {};
  if (kind !== what)
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"`,
    );
  return typed(value, typeName);
}

/** As `parseTyped`, from a parsed value. */
export function typed(value: Json, typeName: string): Json {
  const what = typeName.slice(typeName.lastIndexOf(".") + 1);
  const kind = isObject(value) ? (value.kind ?? what) : what;
  if (kind !== what) throw badRequest(`${kind} cannot be handled as a ${what}`);
  try {
    return decode(typeSchema(typeName), value).value;
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
}

/**
 * Reads a protobuf body by its schema. `check` is called with the type that its envelope names, before it is decoded.
 */
function parseProtobufBody(
  bytes: Buffer,
  schema: ObjectSchema,
  what: string,
  check?: (type: JsonObject) => void,
): Json {
  if (!isEnvelope(bytes)) throw unsupportedMediaType(BODY_TYPES);
  try {
    const { apiVersion, kind, raw } = decodeEnvelope(bytes);
    check?.({ apiVersion, kind });
    return decodeProtobuf(schema, raw);
  } catch (error) {
    if (error instanceof ProtobufError) throw unrecognized(what, error.message, bytes);
    throw error;
  }
}

function checkType(sent: JsonObject, kind: BodyKind, bytes: Buffer): void {
  const own = apiVersionOf(kind);
  const apiVersion = String(sent.apiVersion || own);
  const name = String(sent.kind || kind.kind);
  if (apiVersion === own && name === kind.kind) return;
  const parts = apiVersion.split("/");
  if (parts.length > 2) throw unrecognized(kind.kind, `unexpected GroupVersion string: ${apiVersion}`, bytes);
  const version = parts.at(-1) ?? "";
  const group = kind.group === "" ? "core" : (kind.group.split(".")[0] ?? "");
  const why = isTypeOf(apiVersion, name)
    ? `converting (${version}.${name}) to (${group}.${kind.kind}): unknown conversion`
    : `no kind ${JSON.stringify(name)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`;
  throw badRequest(`${name} in version ${JSON.stringify(version)} cannot be handled as a ${kind.kind}: ${why}`);
}

/** Kubernetes has other messages for custom resources, which have no Go type. */
function checkUntyped(value: JsonObject, kind: BodyKind, bytes: Buffer, warn: (message: string) => void): void {
  const { apiVersion = "", kind: name = "", metadata, ...rest } = value;
  if (name === "") throw unrecognized(kind.kind, `Object 'Kind' is missing in '${bytes.toString("utf8")}'`, bytes);
  const own = apiVersionOf(kind);
  if (apiVersion !== own) {
    // Kubernetes has no schema for that version: every field of it is unknown.
    for (const unknown of Object.keys(rest)) warn(unknownField(unknown));
    throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${own})`);
  }
  if (name === kind.kind) return;
  const about = { group: kind.group, kind: String(name) };
  const named = isObject(metadata) ? String(metadata.name ?? "") : "";
  throw invalidStatus(about, named, [field.invalid("kind", name, `must be ${kind.kind}`)]);
}

function cannotBeHandled(kind: BodyKind, why: string): string {
  return `${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}: ${why}`;
}
