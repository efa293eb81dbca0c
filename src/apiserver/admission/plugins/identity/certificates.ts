/**
 * Three plugins for CertificateSigningRequests: who may approve for a signer, who may sign for it, and which subjects
 * are refused.
 */
import { type certificates, equalJson, goQuote, type Json } from "#api";
import { requestSubject } from "#pki";
import type { Authorizer } from "../../../authz/authorizer.ts";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { type AdmissionPlugin, refused, rule } from "../../chain/plugin.ts";
import { mayForSigner } from "./signer-access.ts";

type Request = certificates.CertificateSigningRequest;

const REQUESTS = "certificatesigningrequests.certificates.k8s.io";
const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";
const MASTERS = "system:masters";

export function certificateApproval(authorize: Authorizer): AdmissionPlugin {
  return {
    name: "CertificateApproval",
    validates: [rule("UPDATE", `${REQUESTS}/approval`, (attributes) => checkSigner(attributes, authorize, "approve"))],
  };
}

export function certificateSigning(authorize: Authorizer): AdmissionPlugin {
  return {
    name: "CertificateSigning",
    validates: [
      rule("UPDATE", `${REQUESTS}/status`, (attributes) => {
        const [next, old] = [attributes.object as Request, attributes.old as Request];
        const isSame =
          next.status?.certificate === old.status?.certificate &&
          equalJson(
            (next.status?.conditions ?? []) as unknown as Json,
            (old.status?.conditions ?? []) as unknown as Json,
          );
        if (!isSame) return checkSigner(attributes, authorize, "sign");
      }),
    ],
  };
}

export const certificateSubjectRestriction: AdmissionPlugin = {
  name: "CertificateSubjectRestriction",
  validates: [
    rule("CREATE", REQUESTS, (attributes) => {
      const { spec } = attributes.object as Request;
      if (spec.signerName !== CLIENT_SIGNER) return;
      const subject = requestSubject(spec.request);
      if (subject === undefined)
        throw refused(attributes, "failed to parse CSR: PEM block does not hold a certificate request");
      if (subject.organizations.includes(MASTERS))
        throw refused(attributes, `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`);
    }),
  ],
};

async function checkSigner(
  attributes: AdmissionAttributes,
  authorize: Authorizer,
  verb: "approve" | "sign",
): Promise<void> {
  const { signerName } = (attributes.old as Request).spec;
  if (await mayForSigner(authorize, attributes.user, verb, signerName)) return;
  throw refused(attributes, `user not permitted to ${verb} requests with signerName ${goQuote(signerName)}`);
}
