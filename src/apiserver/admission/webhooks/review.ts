/**
 * The AdmissionReview that is sent to a webhook, and the checks of its response: pure.
 *
 * 1. A v1 response must have the uid, version and kind of the request. As in Kubernetes, v1beta1 responses are not
 *    checked.
 * 2. A validating webhook may not patch; a mutating webhook has to name the type of its patch.
 */
import {
  DecodeError,
  decode,
  decodeBase64,
  goQuote,
  isObject,
  type Json,
  type JsonObject,
  type JsonPatch,
  JsonSyntaxError,
  type KubeObject,
  parseJson,
  typeSchema,
  unmarshalText,
} from "#api";

const GROUP = "admission.k8s.io";
const KIND = "AdmissionReview";
const VERSIONS = ["v1", "v1beta1"] as const;

export type ReviewVersion = (typeof VERSIONS)[number];

/** The first of the webhook's versions that this server speaks; undefined if there is none. */
export function reviewVersion(spoken: readonly string[]): ReviewVersion | undefined {
  return spoken.map((version) => VERSIONS.find((known) => known === version)).find((known) => known !== undefined);
}

export interface Question {
  readonly uid: string;
  readonly request: JsonObject;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
}

export function reviewOf(version: ReviewVersion, { uid, request, object, old }: Question): JsonObject {
  const { dryRun, options, ...rest } = request;
  return {
    kind: KIND,
    apiVersion: `${GROUP}/${version}`,
    request: {
      uid,
      ...rest,
      object: (object ?? null) as unknown as Json,
      oldObject: (old ?? null) as unknown as Json,
      dryRun: dryRun ?? false,
      options: options ?? null,
    },
  };
}

export interface Review {
  readonly allowed: boolean;
  readonly result: JsonObject | undefined;
  readonly patch: JsonPatch;
  readonly warnings: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
}

/** The response is not valid. */
export class ReviewError extends Error {
  override readonly name = "ReviewError";
}

/** Throws ReviewError, with the message of Kubernetes. */
export function reviewIn(answer: Json, uid: string, version: ReviewVersion, mutating: boolean): Review {
  const response = responseIn(answer, uid, version);
  const patch = typeof response.patch === "string" ? response.patch : "";
  const { patchType } = response;
  if (version === "v1") checkPatch(patch, patchType, mutating);
  return {
    allowed: response.allowed === true,
    result: isObject(response.status) ? response.status : undefined,
    patch: mutating && patch !== "" ? patchIn(patch, version === "v1" ? patchType : "JSONPatch") : [],
    warnings: Array.isArray(response.warnings) ? response.warnings.map(String) : [],
    annotations: (isObject(response.auditAnnotations) ? response.auditAnnotations : {}) as Record<string, string>,
  };
}

function responseIn(answer: Json, uid: string, version: ReviewVersion): JsonObject {
  const { apiVersion = "", kind = "", response } = typed(answer, version);
  if (!isObject(response)) throw invalid("webhook response was absent");
  if (version === "v1beta1") return response;
  const given = String(response.uid ?? "");
  if (given !== uid) throw invalid(`expected response.uid=${goQuote(uid)}, got ${goQuote(given)}`);
  const wanted = `${GROUP}/${version}`;
  if (apiVersion !== wanted || kind !== KIND) {
    const [group, of = ""] = String(apiVersion).includes("/")
      ? String(apiVersion).split("/")
      : ["", String(apiVersion)];
    throw invalid(`expected webhook response of ${wanted}, Kind=${KIND}, got ${group}/${of}, Kind=${kind}`);
  }
  return response;
}

/**
 * Decodes a response. A missing version or kind is taken as that of the request here; a later check refuses it for v1.
 */
function typed(answer: Json, version: ReviewVersion): JsonObject {
  const { apiVersion = "", kind = "" } = isObject(answer) ? answer : {};
  const [group, of] = apiVersion === "" ? [GROUP, version] : String(apiVersion).split("/");
  if (group !== GROUP || !VERSIONS.some((known) => known === of) || (kind !== "" && kind !== KIND)) {
    throw new ReviewError(
      `failed to call webhook: no kind ${goQuote(String(kind))} is registered for version ${goQuote(String(apiVersion))} in scheme "pkg/runtime/scheme.go:110"`,
    );
  }
  if (of !== version) {
    const why = `converting (${of}.${KIND}) to (${version}.${KIND}): unknown conversion`;
    throw new ReviewError(`failed to call webhook: ${why}`);
  }
  try {
    return decode(typeSchema("io.k8s.api.admission.v1.AdmissionReview"), answer).value as JsonObject;
  } catch (error) {
    if (error instanceof DecodeError) throw new ReviewError(`failed to call webhook: ${error.message}`);
    throw error;
  }
}

function checkPatch(patch: string, patchType: Json | undefined, mutating: boolean): void {
  if (!mutating) {
    if (patch !== "") throw invalid("validating webhook may not return response.patch");
    if (patchType !== undefined) throw invalid("validating webhook may not return response.patchType");
    return;
  }
  if (patch !== "" && patchType === undefined)
    throw invalid("webhook returned response.patch but not response.patchType");
  if (patch === "" && patchType !== undefined)
    throw invalid("webhook returned response.patchType but not response.patch");
  if (patchType === "") throw invalid('webhook returned invalid response.patchType of ""');
}

function patchIn(encoded: string, patchType: Json | undefined): JsonPatch {
  const patch = parsed(new TextDecoder().decode(decodeBase64(encoded)));
  if (patch.length > 0 && patchType !== "JSONPatch")
    throw new ReviewError(`unsupported patch type ${goQuote(String(patchType))}`);
  return patch;
}

function parsed(text: string): JsonPatch {
  const undecodable = (why: string) => new ReviewError(`received undecodable patch in webhook response: ${why}`);
  try {
    const value = parseJson(text);
    if (value === null) return [];
    if (!Array.isArray(value)) throw undecodable(unmarshalText(value, "jsonpatch.Patch"));
    const stranger = value.find((operation) => !isObject(operation));
    if (stranger !== undefined) throw undecodable(unmarshalText(stranger, "jsonpatch.Operation"));
    return value as JsonPatch;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw undecodable(error.message);
    throw error;
  }
}

function invalid(why: string): ReviewError {
  return new ReviewError(`received invalid webhook response: ${why}`);
}
