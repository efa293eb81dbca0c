/**
 * One call to a webhook, and its outcome.
 *
 * A call ends at its timeout. An error is not a denial: the failure policy decides about the request.
 */
import { badRequest, type StatusError } from "#api";
import type { Span, Tracer } from "#tracing";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import type { AdmissionMetrics, WebhookCall } from "../chain/metrics.ts";
import { admissionRequest, type Versioned } from "../dynamic/index.ts";
import type { Clients } from "./clients.ts";
import { denial } from "./denial.ts";
import { type Review, ReviewError, reviewIn, reviewOf, reviewVersion } from "./review.ts";
import type { Webhook } from "./webhook.ts";

const DEFAULT_TIMEOUT_SECONDS = 10;
const OK = 200;
const BAD_REQUEST = 400;
const UNAVAILABLE = 503;

export type Called =
  | { readonly outcome: "allowed"; readonly review: Review }
  /** `unasked`: the webhook was not called. */
  | { readonly outcome: "denied"; readonly error: StatusError; readonly unasked?: boolean }
  /** It could not be called, or its response is not valid. */
  | { readonly outcome: "failed"; readonly why: string; readonly code: number };

export interface Caller {
  readonly clients: Clients;
  readonly metrics: AdmissionMetrics | undefined;
  readonly tracer?: Tracer | undefined;
  newUid(): string;
}

/** Calls it, and counts the call. */
export async function call(
  caller: Caller,
  webhook: Webhook,
  attributes: AdmissionAttributes,
  versioned: Versioned,
  mutating: boolean,
): Promise<Called> {
  const { metrics } = caller;
  if (metrics === undefined) return post(caller, webhook, attributes, versioned, mutating);
  const about = countedAs(webhook, attributes, mutating);
  const startMs = metrics.now();
  const called = await post(caller, webhook, attributes, versioned, mutating);
  if (called.outcome === "allowed") metrics.webhookCalled(about, startMs, OK, false);
  else if (called.outcome === "denied") {
    const code = called.unasked === true ? 0 : called.error.code;
    metrics.webhookRejected(about, called.unasked === true ? "apiserver_internal_error" : "no_error", code);
    metrics.webhookCalled(about, startMs, code, true);
  } else {
    if (isIgnored(webhook)) metrics.webhookFailedOpen(about);
    else metrics.webhookRejected(about, "calling_webhook_error", called.code);
    metrics.webhookCalled(about, startMs, called.code, !isIgnored(webhook));
  }
  return called;
}

export function countedAs(
  { spec }: Webhook,
  { operation }: Pick<AdmissionAttributes, "operation">,
  mutating: boolean,
): WebhookCall {
  return { name: spec.name, type: mutating ? "admit" : "validating", operation };
}

async function post(
  { clients, newUid, tracer }: Caller,
  webhook: Webhook,
  attributes: AdmissionAttributes,
  versioned: Versioned,
  mutating: boolean,
): Promise<Called> {
  const { spec } = webhook;
  const failed = (why: string, code: number): Called => ({
    outcome: "failed",
    why: `failed calling webhook ${JSON.stringify(spec.name)}: ${why}`,
    code,
  });
  if (attributes.dryRun && spec.sideEffects !== "None" && spec.sideEffects !== "NoneOnDryRun") {
    const why = `admission webhook ${JSON.stringify(spec.name)} does not support dry run`;
    return { outcome: "denied", error: badRequest(why), unasked: true };
  }
  const version = reviewVersion(spec.admissionReviewVersions);
  if (version === undefined) {
    const why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
    return failed(`could not create admission objects: ${why}`, BAD_REQUEST);
  }
  const { target, object, old } = versioned;
  const uid = newUid();
  const question = { uid, request: admissionRequest(attributes, target), object, old };
  const timeoutMs = (spec.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  const { witness, operation, resource } = attributes;
  const answered = witness?.calls(`webhook ${spec.name}`, `AdmissionReview ${operation} ${resource.kind.names.plural}`);
  const send = () => clients.to(spec.clientConfig).post(reviewOf(version, question), timeoutMs);
  const span = spanOf(tracer, webhook, attributes, uid, mutating);
  const answer = await (tracer === undefined || span === undefined ? send() : tracer.run(span, send));
  if (!answer.ok) span?.fail(answer.message);
  span?.end();
  answered?.(answer.ok ? undefined : answer.message);
  if (!answer.ok) return failed(`failed to call webhook: ${answer.message}`, answer.code);
  try {
    const review = reviewIn(answer.value, uid, version, mutating);
    for (const [key, value] of Object.entries(review.annotations)) attributes.annotate(`${spec.name}/${key}`, value);
    for (const warning of review.warnings) attributes.warn(warning);
    if (review.allowed) return { outcome: "allowed", review };
    return { outcome: "denied", error: denial(spec.name, review.result) };
  } catch (error) {
    if (error instanceof ReviewError) return failed(error.message, UNAVAILABLE);
    throw error;
  }
}

/** With the attributes of kube-apiserver. */
function spanOf(
  tracer: Tracer | undefined,
  { spec, configuration }: Webhook,
  { resource, subresource, operation }: AdmissionAttributes,
  uid: string,
  mutating: boolean,
): Span | undefined {
  return tracer?.active?.child(mutating ? "Call mutating webhook" : "Call validating webhook", {
    attributes: {
      configuration,
      webhook: spec.name,
      resource: `${resource.kind.group}/${resource.kind.version}, Resource=${resource.kind.names.plural}`,
      subresource,
      operation,
      UID: uid,
    },
  });
}

export function isIgnored({ spec }: Webhook): boolean {
  return spec.failurePolicy === "Ignore";
}
