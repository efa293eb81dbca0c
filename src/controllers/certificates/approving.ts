/**
 * Approves CertificateSigningRequests of kubelets for client certificates, if the requester is authorized.
 *
 *     request --► recognized by its names ──► SubjectAccessReview ══► condition Approved
 *
 * 1. It never denies: requests that it does not recognize, or may not approve, are left to others.
 */
import { type KubeObject, kinds } from "#api";
import { type Controller, defineController, keysFrom } from "../runtime/index.ts";
import {
  type CertificateSigner,
  hasCondition,
  KUBELET_CLIENT,
  requestBytes,
  type SigningRequest,
} from "./authority.ts";
import { whyNoKubeletClient } from "./rules.ts";

/** Retried after a review without approval: a role binding may be created later. */
const AGAIN_MS = 60_000;

interface Kindness {
  /** The permission: `create certificatesigningrequests/…`. */
  readonly right: string;
  readonly message: string;
}

const SELF: Kindness = {
  right: "selfnodeclient",
  message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
};
const ANY: Kindness = {
  right: "nodeclient",
  message: "Auto approving kubelet client certificate after SubjectAccessReview.",
};

export function csrApproving(signer: Pick<CertificateSigner, "read">): Controller {
  return defineController({
    name: "certificatesigningrequest-approving-controller",
    account: "certificate-controller",
    bind({ cache, client }) {
      const requests = cache(kinds.CertificateSigningRequest);
      const reviews = client.of(kinds.SubjectAccessReview);
      return {
        sources: [keysFrom(kinds.CertificateSigningRequest, ({ object }) => [object.metadata.name ?? ""])],
        async reconcile(key, _now, signal) {
          const request = requests.get(key);
          if (request === undefined || isDecided(request)) return undefined;
          const kinds = kindnesses(request, signer);
          for (const { right, message } of kinds) {
            const review = await reviews.create(reviewOf(request, right), { signal });
            if (review.status?.allowed === true) return { steps: [[approved(request, message)]] };
          }
          return kinds.length === 0 ? undefined : { againAfterMs: AGAIN_MS };
        },
      };
    },
  });
}

export function isDecided(request: SigningRequest): boolean {
  return (
    (request.status?.certificate ?? "") !== "" || hasCondition(request, "Approved") || hasCondition(request, "Denied")
  );
}

/** The recognized kinds of requests. */
export function kindnesses(request: SigningRequest, signer: Pick<CertificateSigner, "read">): readonly Kindness[] {
  const { spec } = request;
  if (spec.signerName !== KUBELET_CLIENT) return [];
  const names = signer.read(requestBytes(request));
  if (whyNoKubeletClient(names, spec.usages ?? []) !== undefined) return [];
  return spec.username === names.commonName ? [SELF, ANY] : [ANY];
}

function reviewOf({ spec }: SigningRequest, subresource: string) {
  const { username, uid, groups, extra } = spec;
  return {
    metadata: {},
    spec: {
      ...(username !== undefined && { user: username }),
      ...(uid !== undefined && { uid }),
      ...(groups !== undefined && { groups }),
      ...(extra !== undefined && { extra }),
      resourceAttributes: {
        group: "certificates.k8s.io",
        resource: "certificatesigningrequests",
        verb: "create",
        subresource,
      },
    },
  };
}

export function approved(request: SigningRequest, message: string) {
  const condition = { type: "Approved", status: "True", reason: "AutoApproved", message };
  const status = { ...request.status, conditions: [...(request.status?.conditions ?? []), condition] };
  const object: KubeObject = { ...request, status } as SigningRequest as KubeObject;
  return { verb: "update", resource: kinds.CertificateSigningRequest, object, subresource: "approval" } as const;
}
