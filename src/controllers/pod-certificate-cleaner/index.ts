/**
 * Deletes PodCertificateRequests 15 minutes after their creation: by then a certificate is issued and on its node, or
 * nobody issues it.
 */
import { type certificatesV1beta1, optional, parseTime, toMs } from "#api";
import { changesOf, defineController, type Plan } from "../runtime/index.ts";

const KEPT_MS = 15 * 60_000;

export const podCertificateCleaner = defineController({
  name: "podcertificaterequest-cleaner-controller",
  account: "podcertificaterequestcleaner",
  gates: ["PodCertificateRequest"],
  needs: [optional.PodCertificateRequest],
  bind({ cache }) {
    const requests = cache(optional.PodCertificateRequest);
    return {
      sources: [changesOf(optional.PodCertificateRequest, ({ type }) => type !== "deleted")],
      reconcile: (key, now) => {
        const request = requests.get(key);
        return request === undefined ? undefined : planCleaning(request, now);
      },
    };
  },
});

export function planCleaning(request: certificatesV1beta1.PodCertificateRequest, now: number): Plan | undefined {
  const { creationTimestamp, deletionTimestamp } = request.metadata;
  if (creationTimestamp === undefined || deletionTimestamp !== undefined) return undefined;
  const due = toMs(parseTime(creationTimestamp)) + KEPT_MS;
  if (due > now) return { againAfterMs: due - now };
  return { steps: [[{ verb: "delete", resource: optional.PodCertificateRequest, object: request }]] };
}
