/**
 * ImagePolicyWebhook: a backend decides about the images of a Pod.
 *
 *     Pod ──► ImageReview ──► kept answer ──► admitted, or refused
 *                  └──────► POST to the backend, retried ──┘
 *
 * 1. Answers are kept by what was asked: allowed and denied images for times of their own.
 * 2. If the backend cannot be asked, `defaultAllow` decides. A Pod that passes so has an annotation that says it, and
 *    so has the audit event.
 */
import { type core, type Draft, type JsonObject, writeJson } from "#api";
import { TtlMap } from "#base";
import { kubeconfigClient } from "../../../outbound/kubeconfig-client.ts";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { type AdmissionPlugin, refused, rule } from "../../chain/plugin.ts";
import type { PluginServices } from "../../chain/plugin-services.ts";
import { imagePolicyConfiguration, NAME } from "./image-policy-configuration.ts";
import { type ReadReview, type ReviewStatus, reviewOf, reviewSpec, statusIn } from "./image-review.ts";

const KEPT_ANSWERS = 1024;
const AUDIT = "imagepolicywebhook.image-policy.k8s.io/";
const FAILED_OPEN = "alpha.image-policy.k8s.io/failed-open";

export async function imagePolicyWebhook(
  { storage }: Pick<PluginServices, "storage">,
  configuration: JsonObject | undefined,
): Promise<AdmissionPlugin> {
  const { clock, random, log } = storage;
  const { connection, allowTtlMs, denyTtlMs, retryBackoffMs, defaultAllow } =
    await imagePolicyConfiguration(configuration);
  const client = kubeconfigClient({ connection, retryBackoffMs, clock, random });
  const kept = new TtlMap<string, ReviewStatus>(KEPT_ANSWERS, clock);

  const ask = async ({ witness, operation }: AdmissionAttributes, spec: JsonObject): Promise<ReadReview> => {
    const answered = witness?.calls(`webhook ${NAME}`, `ImageReview ${operation} pods`);
    const answer = await client.post(reviewOf(spec));
    answered?.(answer.ok ? undefined : answer.message);
    return answer.ok ? statusIn(answer.value) : answer;
  };
  const failed = (attributes: AdmissionAttributes, why: string): void => {
    log.warn("the image policy webhook failed", { error: why, allowed: defaultAllow });
    if (!defaultAllow) throw refused(attributes, why);
    attributes.annotate(`${AUDIT}failed-open`, "true");
    const { metadata } = attributes.object as Draft<core.Pod>;
    metadata.annotations = { ...metadata.annotations, [FAILED_OPEN]: "true" };
  };
  const decide = (attributes: AdmissionAttributes, { allowed, reason, auditAnnotations }: ReviewStatus): void => {
    for (const [key, value] of Object.entries(auditAnnotations)) attributes.annotate(`${AUDIT}${key}`, value);
    if (allowed) return;
    if (reason !== "") throw refused(attributes, `image policy webhook backend denied one or more images: ${reason}`);
    throw refused(attributes, "one or more images rejected by webhook backend");
  };
  return {
    name: NAME,
    validates: [
      rule("CREATE UPDATE", "pods pods/ephemeralcontainers", async (attributes) => {
        const spec = reviewSpec(attributes.object as core.Pod, attributes.subresource, attributes.namespace);
        const key = writeJson(spec);
        const known = kept.get(key);
        if (known !== undefined) return decide(attributes, known);
        const review = await ask(attributes, spec);
        if (!review.ok) return failed(attributes, review.message);
        kept.set(key, review.status, review.status.allowed ? allowTtlMs : denyTtlMs);
        decide(attributes, review.status);
      }),
    ],
    close: () => client.close(),
  };
}
