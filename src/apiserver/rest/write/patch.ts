/** PATCH: JSON, merge, strategic merge and apply, each as a proposal for the new object. */
import {
  apiVersionOf,
  applyConfiguration,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  badRequest,
  builtIn,
  DecodeError,
  decode,
  decodeJsonPatch,
  field,
  goValue,
  invalidStatus,
  isObject,
  type Json,
  type JsonObject,
  JsonPatchError,
  JsonSyntaxError,
  jsonKind,
  type Kind,
  type KubeObject,
  type ObjectSchema,
  parseDocument,
  parseSpelled,
  parseYaml,
  StatusError,
  strictFieldErrors,
  type TextFacts,
  unknownField,
  writeJson,
  YamlSyntaxError,
} from "#api";
import { decodeSpelled, mediaType, type Spelling, typeMetaFault } from "../body.ts";
import type { AnyDraft } from "../draft.ts";
import { type PatchOptions, patchOptions } from "../options.ts";
import type { RestRequest, Written } from "../rest-request.ts";
import { change } from "./change.ts";
import { ownershipContext } from "./ownership.ts";
import { aroundStatus, isAboutStatus } from "./patch-status.ts";
import type { Proposal } from "./write.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
const APPLY_PATCH = "application/apply-patch+yaml";

export async function patch(request: RestRequest): Promise<Written> {
  const type = request.contentType === undefined ? "" : mediaType(request.contentType);
  const { kind } = request.resource;
  const types =
    kind.schema.goType === undefined
      ? [JSON_PATCH, MERGE_PATCH, APPLY_PATCH]
      : [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH];
  if (!types.includes(type)) throw unsupported();
  const options = patchOptions(request.query, type === APPLY_PATCH);
  if (type === APPLY_PATCH) return apply(request, await request.body(), options);
  const given = request.value?.();
  const sent = given === undefined ? parsePatch(type, (await request.body()).toString("utf8")) : { value: given };
  const proposal = proposer(type, sent, request, options);
  return change(request, {
    dryRun: options.dryRun,
    propose: (current) => {
      // A patch never creates.
      if (current === undefined) throw new Error("a patch without an object");
      return proposal(current);
    },
  });
}

function proposer(
  type: string,
  sent: SentPatch,
  request: RestRequest,
  options: PatchOptions,
): (current: KubeObject) => Proposal {
  const { kind } = request.resource;
  const patched = patcher(type, sent.value);
  const from = type === STRATEGIC_PATCH ? "maps" : "json";
  const { text, facts } = sent;
  const spelling = (object: Json): Spelling | undefined =>
    text === undefined || from === "maps"
      ? undefined
      : {
          fractions: facts?.fractions === true,
          document: () => patcher(type, parseSpelled(text))(object, kind.schema),
        };
  const propose = (object: Json) =>
    decoded({ document: patched(object, kind.schema), spelling: spelling(object), sent, from }, kind, request, options);
  if (type !== STRATEGIC_PATCH || request.subresource !== "status") return (current) => propose(asJson(current));
  return isAboutStatus(kind, sent.value)
    ? (current) => aroundStatus(current, propose)
    : (current) => propose(asJson(current));
}

/** Returns the function that patches a document. Faults of the patch itself are thrown here. */
export function patcher(type: string, value: Json): (document: Json, schema: ObjectSchema) => Json {
  if (type === JSON_PATCH) {
    const operations = decodeJsonPatch(value);
    return (document) => {
      try {
        return applyJsonPatch(document, operations);
      } catch (error) {
        if (error instanceof JsonPatchError) throw rejected();
        throw error;
      }
    };
  }
  if (!isObject(value)) {
    throw badRequest(
      `${prefixOf(type)}json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`,
    );
  }
  if (type === MERGE_PATCH) return (document) => applyMergePatch(document, value);
  if (type === STRATEGIC_PATCH)
    return (document, schema) => applyStrategicMergePatch(document as JsonObject, value, schema);
  throw unsupported();
}

function unsupported(): StatusError {
  return new StatusError("UnsupportedMediaType", "415: Unsupported Media Type", { details: {} });
}

interface Patched {
  readonly document: Json;
  readonly spelling: Spelling | undefined;
  readonly sent: SentPatch;
  readonly from: "json" | "maps";
}

function decoded(
  { document: patched, spelling, sent, from }: Patched,
  kind: Kind,
  request: RestRequest,
  options: PatchOptions,
): Proposal {
  const shown = () => (from === "maps" ? goValue(sent.value) : documentText(patched, kind));
  try {
    checkType(patched, kind, from);
    const { value, unknown } =
      from === "maps" ? decode(kind.schema, patched, { from }) : decodeSpelled(kind.schema, patched, spelling);
    if (options.fieldValidation !== "Ignore") report(sent, unknown, request, options, shown);
    const draft = value as unknown as AnyDraft;
    draft.kind = kind.kind;
    draft.apiVersion = apiVersionOf(kind);
    return { draft };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw invalidStatus({ group: "", kind: "" }, "", [field.invalid("patch", shown(), error.message)]);
  }
}

/** A patch may not turn an object into one of another type. */
function checkType(patched: Json, kind: Kind, from: "json" | "maps"): void {
  const sent = isObject(patched) ? patched : {};
  const fault = typeMetaFault(sent);
  // A strategic merge patch has no text to look for them first: decoding reports it.
  if (fault !== undefined && from === "maps") return;
  if (fault !== undefined)
    throw new DecodeError(`couldn't get version/kind; json parse error: json: cannot unmarshal ${fault}`);
  const [apiVersion, name] = [sent.apiVersion ?? "", sent.kind ?? ""];
  if (name === "" && kind.schema.goType === undefined)
    throw new DecodeError(`Object 'Kind' is missing in '${documentText(patched, kind)}'`);
  if ((apiVersion === "" || apiVersion === apiVersionOf(kind)) && (name === "" || name === kind.kind)) return;
  const other = builtIn.find((each) => each.kind === name && apiVersionOf(each) === apiVersion);
  if (other !== undefined) {
    // Kubernetes decodes it as the type that it names before it compares the types.
    decode(other.schema, patched, { from });
    const { group, version } = other;
    throw new DecodeError(`unable to decode ${group}/${version}, Kind=${name} into *${kind.version}.${kind.kind}`);
  }
  throw new DecodeError(
    `no kind ${JSON.stringify(name)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`,
  );
}

/** Warns of, or refuses, unknown fields of the result and duplicate fields of the patch. */
function report(
  { text, value, facts }: SentPatch,
  unknown: readonly string[],
  { warn }: RestRequest,
  { fieldValidation }: PatchOptions,
  shown: () => string,
): void {
  const twice = text === undefined ? [] : strictFieldErrors(text, value, [], facts);
  if (twice.length === 0 && unknown.length === 0) return;
  const faults = [...new Set([...twice, ...unknown.map(unknownField)])];
  if (fieldValidation === "Strict") {
    throw invalidStatus({ group: "", kind: "" }, "", [
      field.invalid("patch", shown(), `strict decoding error: ${faults.join(", ")}`),
    ]);
  }
  for (const fault of faults) warn(fault);
}

/** A patched document as the original prints it: sorted by name, its metadata in the order of the type. */
function documentText(patched: Json, kind: Kind): string {
  if (!isObject(patched)) return writeJson(patched);
  const order = kind.schema.fields.get("metadata")?.schema;
  const names = order?.type === "object" ? [...order.fields.keys()] : [];
  const sorted = Object.entries(patched).sort(([a], [b]) => (a < b ? -1 : 1));
  return writeJson(
    Object.fromEntries(
      sorted.map(([name, value]) => {
        if (name !== "metadata" || !isObject(value)) return [name, value];
        const known = names.filter((each) => Object.hasOwn(value, each));
        const others = Object.keys(value).filter((each) => !names.includes(each));
        return [name, Object.fromEntries([...known, ...others].map((each) => [each, value[each] ?? null]))];
      }),
    ),
  );
}

async function apply(request: RestRequest, bytes: Buffer, options: PatchOptions): Promise<Written> {
  const { kind } = request.resource;
  const applied = parseApplied(bytes);
  checkTypes(kind, applied);
  return change(request, {
    dryRun: options.dryRun,
    mayCreate: request.subresource === "",
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
      const { value } = decode(kind.schema, result.object, { from: "maps" });
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

/** The name comes from the path; the configuration must not name another. */
function named(applied: JsonObject, { name }: RestRequest): JsonObject {
  const metadata = isObject(applied.metadata) ? applied.metadata : {};
  if (metadata.name !== undefined && metadata.name !== name) {
    throw badRequest(
      `metadata.name: the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  }
  return { ...applied, metadata: { ...metadata, name } };
}

/** Types only: fields that the schema does not know are refused by apply itself. */
function checkTypes(kind: Kind, applied: JsonObject): void {
  try {
    decode(kind.schema, applied, { from: "maps" });
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
}

function parseApplied(bytes: Buffer): JsonObject {
  try {
    const value = jsonOrYaml(bytes.toString("utf8"));
    if (!isObject(value))
      throw badRequest(
        `error decoding YAML: json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`,
      );
    return value;
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw badRequest(`error decoding YAML: ${error.message}`);
    throw error;
  }
}

/** Most clients send JSON, which is YAML that is parsed much faster. */
function jsonOrYaml(text: string): Json {
  if (text.trimStart().startsWith("{")) {
    try {
      return parseDocument(text).value;
    } catch {
      // A flow mapping of YAML, or neither: the YAML parser has the message.
    }
  }
  return parseYaml(text).value;
}

/** A patch as it was sent. */
interface SentPatch {
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

function prefixOf(type: string): string {
  return type === STRATEGIC_PATCH ? "" : "error decoding patch: ";
}

function rejected(): StatusError {
  return new StatusError("Invalid", "the server rejected our request due to an error in our request", { details: {} });
}

function asJson(object: KubeObject): Json {
  return object as unknown as Json;
}
