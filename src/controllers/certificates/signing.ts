/**
 * Signs approved requests for the four built-in signers.
 *
 *     request --► approved ──► rules of its signer ══► certificate, or condition Failed
 */
import { type KubeObject, kinds } from "#api";
import { type Controller, defineController, keysFrom } from "../runtime/index.ts";
import { type CertificateSigner, hasCondition, requestBytes, type SigningRequest } from "./authority.ts";
import { lifetimeOf } from "./lifetime.ts";
import { SIGNERS, whyNotSigned } from "./rules.ts";

const YEAR_MS = 365 * 24 * 3_600_000;

export interface CsrSigningOptions {
  /** The longest validity of a certificate. Default: a year. */
  readonly durationMs?: number;
}

export function csrSigning(signer: CertificateSigner, { durationMs = YEAR_MS }: CsrSigningOptions = {}): Controller {
  return defineController({
    name: "certificatesigningrequest-signing-controller",
    account: "certificate-controller",
    bind({ cache }) {
      const requests = cache(kinds.CertificateSigningRequest);
      return {
        sources: [keysFrom(kinds.CertificateSigningRequest, ({ object }) => [object.metadata.name ?? ""])],
        reconcile(key, now) {
          const request = requests.get(key);
          const status = request && signedStatus(request, signer, durationMs, now);
          if (request === undefined || status === undefined) return undefined;
          const object = { ...request, status: { ...request.status, ...status } } as SigningRequest as KubeObject;
          return { steps: [[{ verb: "updateStatus", resource: kinds.CertificateSigningRequest, object }]] };
        },
      };
    },
  });
}

/** Undefined: nothing to do. Throws if the request is invalid, which API validation should have found. */
export function signedStatus(
  request: SigningRequest,
  signer: CertificateSigner,
  longestMs: number,
  now: number,
): SigningRequest["status"] {
  const { spec, status } = request;
  if (!SIGNERS.includes(spec.signerName) || signer.signs?.(spec.signerName) === false) return undefined;
  if ((status?.certificate ?? "") !== "") return undefined;
  if (!hasCondition(request, "Approved") || hasCondition(request, "Denied") || hasCondition(request, "Failed"))
    return undefined;
  const bytes = requestBytes(request);
  const usages = spec.usages ?? [];
  const message = whyNotSigned(spec.signerName, signer.read(bytes), usages);
  if (message !== undefined) {
    const lastUpdateTime = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
    const failed = { type: "Failed", status: "True", reason: "SignerValidationFailure", message, lastUpdateTime };
    return { conditions: [...(status?.conditions ?? []), failed] };
  }
  const certificate = signer.sign(bytes, {
    signerName: spec.signerName,
    usages,
    ...lifetimeOf(spec.expirationSeconds, longestMs, now),
  });
  return { certificate: Buffer.from(certificate).toString("base64") };
}
