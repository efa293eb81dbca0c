/**
 * ConversionReviews: the request to a conversion webhook, and the validation of its response. Pure.
 *
 * 1. A response is accepted only if its uid is that of the request, its objects have the desired version and kind, and
 *    each object keeps its name, namespace and uid.
 * 2. A webhook may change labels and annotations; all other metadata is restored.
 */
import {
  at,
  field,
  isInt64,
  isObject,
  type Json,
  type JsonObject,
  type MetaRules,
  validateObjectMeta,
  writeJson,
} from "#api";

const GROUP = "apiextensions.k8s.io";
const KNOWN_VERSIONS = ["v1", "v1beta1"];

export type Conversion =
  | { readonly ok: true; readonly object: JsonObject }
  | { readonly ok: false; readonly message: string; readonly failure?: ConversionFailure | undefined };

/** What went wrong in a call, in the words of metrics. */
export type ConversionFailure = "call" | "malformed_response" | "partial_response" | "invalid_converted_object";

export interface Question {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly JsonObject[];
}

/** The first of the webhook's versions that this server supports. */
export function reviewVersion(spoken: readonly string[]): string | undefined {
  return spoken.find((version) => KNOWN_VERSIONS.includes(version));
}

export function reviewOf(version: string, { uid, desiredAPIVersion, objects }: Question): JsonObject {
  return {
    kind: "ConversionReview",
    apiVersion: `${GROUP}/${version}`,
    request: { uid, desiredAPIVersion, objects },
  };
}

/** The outcome for each object of the request. */
export function answersTo(question: Question, version: string, answer: Json): readonly Conversion[] {
  const { objects } = question;
  const fault = answerFault(question, version, answer);
  if (fault !== undefined) return objects.map((object) => failed(object, ` failed: ${fault}`, "malformed_response"));
  const response = isObject(answer) && isObject(answer.response) ? answer.response : {};
  const converted = Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
  if (converted.length !== objects.length) {
    const why = ` returned ${converted.length} objects, expected ${objects.length}`;
    return objects.map((object) => failed(object, why, "partial_response"));
  }
  return objects.map((object, index) =>
    accepted(object, question.desiredAPIVersion, (converted[index] as Json | undefined) ?? null, index),
  );
}

export function failed(object: JsonObject, why: string, failure: ConversionFailure): Conversion {
  return { ok: false, message: `conversion webhook for ${kindText(object)}${why}`, failure };
}

function answerFault({ uid }: Question, version: string, answer: Json): string | undefined {
  const wanted = { apiVersion: `${GROUP}/${version}`, kind: "ConversionReview" };
  const given = isObject(answer) ? answer : {};
  if (version === "v1" && kindText(given) !== kindText(wanted)) {
    return `expected webhook response of ${kindText(wanted)}, got ${kindText(given)}`;
  }
  const { response } = given;
  if (!isObject(response)) return "no response provided";
  if (version === "v1" && response.uid !== uid) {
    return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`;
  }
  const result = isObject(response.result) ? response.result : {};
  if (result.status === "Success") return undefined;
  const { message = "", status = "" } = result;
  return message !== "" ? String(message) : `response.result.status was '${status}', not 'Success'`;
}

function accepted(original: JsonObject, apiVersion: string, converted: Json, index: number): Conversion {
  const refused = (why: string) => failed(original, ` returned invalid ${why}`, "invalid_converted_object");
  const invalid = (why: string) => refused(`object at index ${index}: ${why}`);
  if (!isObject(converted)) return invalid(`Object 'Kind' is missing in '${writeJson(converted)}'`);
  if (converted.apiVersion !== apiVersion) {
    return invalid(`invalid groupVersion (expected ${apiVersion}, received ${converted.apiVersion ?? ""})`);
  }
  if (converted.kind !== original.kind) {
    return invalid(`invalid kind (expected ${original.kind}, received ${converted.kind ?? ""})`);
  }
  const changed = identityFault(original, converted);
  if (changed !== undefined) return refused(`object: ${changed}`);
  const metadata = restoredMetadata(original.metadata, converted.metadata);
  if (typeof metadata === "string") return refused(`metadata: ${metadata}`);
  const { kind, apiVersion: own, metadata: _, ...rest } = converted;
  return { ok: true, object: { kind, apiVersion: own, metadata, ...rest } as JsonObject };
}

const IDENTITY: readonly (readonly [field: string, word: string])[] = [
  ["name", "name"],
  ["namespace", "namespace"],
  ["uid", "UID"],
];

function identityFault(original: JsonObject, converted: JsonObject): string | undefined {
  const [before, after] = [original.metadata, converted.metadata].map((part) => (isObject(part) ? part : {}));
  for (const [field, word] of IDENTITY) {
    const [was = "", is = ""] = [before?.[field], after?.[field]];
    if (was !== is) return `must have the same ${word}: ${was} != ${is}`;
  }
  return undefined;
}

/**
 * The original metadata with the labels and annotations of the response; or a text that says what is wrong with these.
 */
function restoredMetadata(before: Json | undefined, after: Json | undefined): JsonObject | string {
  if (after === undefined) return "missing metadata in converted object";
  if (!isObject(after)) return `invalid metadata of type ${goType(after)} in converted object`;
  const restored: Record<string, Json> = isObject(before) ? { ...before } : {};
  for (const part of ["labels", "annotations"] as const) {
    const given = after[part];
    if (given === undefined || given === null) {
      delete restored[part];
      continue;
    }
    if (!isObject(given)) return `invalid metadata.${part} of type ${goType(given)} in converted object`;
    for (const [key, value] of Object.entries(given)) {
      if (typeof value !== "string")
        return `metadata.${part}[${key}] must be a string, but is ${goType(value)} in converted object`;
    }
    const faults = validateObjectMeta({ name: "checked", [part]: given }, ANY_NAME, at("metadata"));
    if (faults.length > 0) return field.aggregate(faults.map(field.fieldErrorText));
    restored[part] = given;
  }
  return restored;
}

const ANY_NAME: MetaRules = { namespaced: false, validateName: () => [] };

/** As Go prints a GroupVersionKind. */
function kindText({ apiVersion = "", kind = "" }: JsonObject): string {
  return `${apiVersion === "" ? "/" : apiVersion}, Kind=${kind}`;
}

function goType(value: Json): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "boolean") return "bool";
  if (isInt64(value)) return "int64";
  if (typeof value === "number") return "float64";
  return typeof value === "string" ? "string" : "map[string]interface {}";
}
