/** PATCH: JSON, merge and strategic merge, each as a proposal for the new object. Apply has a file of its own. */
import {
  apiVersionOf,
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
  inTypeOrder,
  invalidStatus,
  isObject,
  type Json,
  type JsonObject,
  JsonPatchError,
  jsonKind,
  type Kind,
  type KubeObject,
  type ObjectSchema,
  optionalKinds,
  parseSpelled,
  printable,
  StatusError,
  spentStrategicMergePatch,
  strictFieldErrors,
  unknownField,
  unsupportedMediaType,
  writeJson,
} from "#api";
import { decodeSpelled, mediaType, type Spelling, typeMetaFault } from "../body.ts";
import type { AnyDraft } from "../draft.ts";
import { type PatchOptions, patchOptions } from "../options.ts";
import type { RestRequest, Written } from "../rest-request.ts";
import { apply } from "./apply.ts";
import { change } from "./change.ts";
import { aroundMetadata, isAboutMetadata } from "./patch-metadata.ts";
import { aroundStatus, isAboutStatus } from "./patch-status.ts";
import {
  APPLY_CBOR_PATCH,
  APPLY_PATCH,
  JSON_PATCH,
  MERGE_PATCH,
  parsePatch,
  prefixOf,
  type SentPatch,
  STRATEGIC_PATCH,
} from "./sent-patch.ts";
import type { Proposal } from "./write.ts";

const CUSTOM_TYPES = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH];

export async function patch(request: RestRequest): Promise<Written> {
  const type = patchType(request);
  const applies = type === APPLY_PATCH || type === APPLY_CBOR_PATCH;
  const options = patchOptions(request.query, applies);
  if (applies) return apply(request, await request.body(), options, type === APPLY_CBOR_PATCH);
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

/** The type of the patch, or an error if the kind does not take it. */
export function patchType({ contentType, resource, cbor }: RestRequest): string {
  const type = contentType === undefined ? "" : mediaType(contentType);
  const isCustom = resource.kind.schema.goType === undefined;
  const known = isCustom ? CUSTOM_TYPES : [...CUSTOM_TYPES, STRATEGIC_PATCH];
  const types = cbor ? [...known, APPLY_CBOR_PATCH] : known;
  if (types.includes(type)) return type;
  // Custom resources have no routes of their own that could refuse a media type.
  if (isCustom) throw unsupportedMediaType(types);
  throw new StatusError("UnsupportedMediaType", "415: Unsupported Media Type", { details: {} });
}

function proposer(
  type: string,
  sent: SentPatch,
  request: RestRequest,
  options: PatchOptions,
): (current: KubeObject) => Proposal {
  const { kind } = request.resource;
  const patched = patcher(type, sent.value);
  const isStrategic = type === STRATEGIC_PATCH;
  const { text, facts } = sent;
  const spelling = (object: Json): Spelling | undefined =>
    text === undefined || isStrategic
      ? undefined
      : {
          fractions: facts?.fractions === true,
          document: () => patcher(type, parseSpelled(text))(object, kind.schema),
        };
  const shown = (object: Json) =>
    isStrategic
      ? goValue(spentStrategicMergePatch(object as JsonObject, sent.value as JsonObject, kind.schema))
      : writeJson(patched(inTypeOrder(kind.schema, object), kind.schema));
  const propose = (object: Json, whole = object) =>
    decoded(
      {
        document: patched(object, kind.schema),
        spelling: spelling(object),
        sent,
        from: isStrategic ? "maps" : "json",
        shown: () => shown(whole),
      },
      kind,
      request,
      options,
    );
  if (type !== JSON_PATCH && request.subresource === "" && isAboutMetadata(kind, sent.value))
    return (current) => aroundMetadata(current, (object) => propose(object, asJson(current)));
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
  return (document, schema) => applyStrategicMergePatch(document as JsonObject, value, schema);
}

interface Patched {
  readonly document: Json;
  readonly spelling: Spelling | undefined;
  readonly sent: SentPatch;
  readonly from: "json" | "maps";
  /** How messages show it. */
  readonly shown: () => string;
}

function decoded(
  { document: patched, spelling, sent, from, shown }: Patched,
  kind: Kind,
  request: RestRequest,
  options: PatchOptions,
): Proposal {
  try {
    checkType(patched, kind, from, shown);
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
function checkType(patched: Json, kind: Kind, from: "json" | "maps", shown: () => string): void {
  const sent = isObject(patched) ? patched : {};
  const fault = typeMetaFault(sent);
  // A strategic merge patch has no text to look for them first: decoding reports it.
  if (fault !== undefined && from === "maps") return;
  if (fault !== undefined)
    throw new DecodeError(`couldn't get version/kind; json parse error: json: cannot unmarshal ${fault}`);
  const [apiVersion, name] = [sent.apiVersion ?? "", sent.kind ?? ""];
  if (name === "" && kind.schema.goType === undefined)
    throw new DecodeError(`Object 'Kind' is missing in '${shown()}'`);
  if ((apiVersion === "" || apiVersion === apiVersionOf(kind)) && (name === "" || name === kind.kind)) return;
  const other = [...builtIn, ...optionalKinds].find((each) => each.kind === name && apiVersionOf(each) === apiVersion);
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
  const twice = text === undefined ? [] : printable(strictFieldErrors(text, value, [], facts));
  if (twice.length === 0 && unknown.length === 0) return;
  const faults = [...new Set([...twice, ...printable(unknown).map(unknownField)])];
  if (fieldValidation === "Strict") {
    throw invalidStatus({ group: "", kind: "" }, "", [
      field.invalid("patch", shown(), `strict decoding error: ${faults.join(", ")}`),
    ]);
  }
  for (const fault of faults) warn(fault);
}

function rejected(): StatusError {
  return new StatusError("Invalid", "the server rejected our request due to an error in our request", { details: {} });
}

function asJson(object: KubeObject): Json {
  return object as unknown as Json;
}
