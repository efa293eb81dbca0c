/** The ImageReview of a Pod, as it is sent, and the status of the one that comes back: pure. */
import { type core, goQuote, isObject, type Json, type JsonObject, jsonKind } from "#api";

const KIND = "ImageReview";
const API_VERSION = "imagepolicy.k8s.io/v1alpha1";
/** Only these annotations of a Pod are sent. */
const OURS = ".image-policy.k8s.io/";

export interface ReviewStatus {
  readonly allowed: boolean;
  readonly reason: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** The images of the Pod; of a write to `ephemeralcontainers`, those of its ephemeral containers. */
export function reviewSpec({ metadata, spec }: core.Pod, subresource: string, namespace: string): JsonObject {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  const reviewed = subresource === "" ? [...containers, ...initContainers] : ephemeralContainers;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.includes(OURS));
  return {
    ...(reviewed.length > 0 && { containers: reviewed.map(({ image = "" }) => (image === "" ? {} : { image })) }),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    namespace,
  };
}

export function reviewOf(spec: JsonObject): JsonObject {
  return { kind: KIND, apiVersion: API_VERSION, metadata: {}, spec, status: { allowed: false } };
}

export type ReadReview =
  | { readonly ok: true; readonly status: ReviewStatus }
  | { readonly ok: false; readonly message: string };

/** A missing version or kind counts as that of the request. */
export function statusIn(answer: Json): ReadReview {
  const failed = (message: string): ReadReview => ({ ok: false, message });
  if (!isObject(answer)) return failed(`json: cannot unmarshal ${jsonKind(answer)} into Go value of type ${KIND}`);
  const { kind = KIND, apiVersion = API_VERSION, status = {} } = answer;
  if (kind !== KIND || apiVersion !== API_VERSION) {
    const [wanted, version] = [String(kind), String(apiVersion)].map(goQuote);
    return failed(
      `no kind ${wanted} is registered for version ${version} in scheme "pkg/api/legacyscheme/scheme.go:30"`,
    );
  }
  const typed = (value: Json, where: string, type: string) =>
    failed(`json: cannot unmarshal ${jsonKind(value)} into Go struct field ${KIND}.${where} of type ${type}`);
  if (!isObject(status)) return typed(status, "status", "v1alpha1.ImageReviewStatus");
  const { allowed = false, reason = "", auditAnnotations = {} } = status;
  if (typeof allowed !== "boolean") return typed(allowed, "status.allowed", "bool");
  if (typeof reason !== "string") return typed(reason, "status.reason", "string");
  if (!isObject(auditAnnotations)) return typed(auditAnnotations, "status.auditAnnotations", "map[string]string");
  const stranger = Object.values(auditAnnotations).find((value) => typeof value !== "string");
  if (stranger !== undefined) return typed(stranger, "status.auditAnnotations", "string");
  return { ok: true, status: { allowed, reason, auditAnnotations: auditAnnotations as Record<string, string> } };
}
