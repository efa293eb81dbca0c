/**
 * Validation of PodCertificateRequests. Keys and certificates are parsed; that the kubelet has the private key, and
 * that the request is signed, is left to the signer.
 */
import { fits, same } from "../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from "../machinery/errors/field-error.ts";
import { checkDns1123Subdomain, checkQualifiedName } from "../machinery/names/names.ts";
import { validateAnnotations } from "../machinery/object-meta.ts";
import { decodeBase64, encodeBase64 } from "../machinery/scalars/base64.ts";
import { validateConditions } from "../policy/index.ts";
import type {
  PodCertificateRequest,
  PodCertificateRequestSpec,
  PodCertificateRequestStatus,
} from "../types/certificates-v1beta1.ts";
import { issuedFaults } from "./issued-certificate.ts";
import { signerNameFaults } from "./signer-name.ts";
import { keyOfRequest, parsePublicKey } from "./x509.ts";

const HOUR_SECONDS = 3600;
const OWN_SIGNERS_SECONDS = 24 * HOUR_SECONDS;
const LONGEST_SECONDS = 91 * 24 * HOUR_SECONDS;
const maxUidBytes = 128;
const maxRequestBytes = 10 * 1024;
const decisive = ["Issued", "Denied", "Failed"];

export function validatePodRequest(spec: PodCertificateRequestSpec, at: FieldPath): readonly FieldError[] {
  const { signerName = "", maxExpirationSeconds: seconds } = spec;
  const errors = [
    ...signerNameFaults(signerName, at.child("signerName")),
    ...annotationFaults(spec.unverifiedUserAnnotations, at.child("unverifiedUserAnnotations")),
  ];
  for (const owner of ["pod", "serviceAccount", "node"] as const) {
    const uid = spec[`${owner}UID`] ?? "";
    errors.push(...fits(checkDns1123Subdomain, spec[`${owner}Name`] ?? "", at.child(`${owner}Name`)));
    if (uid === "") errors.push(invalid(at.child(`${owner}UID`), uid, "must not be empty"));
    if (uid.length > maxUidBytes) errors.push(tooLong(at.child(`${owner}UID`), maxUidBytes));
  }
  if (seconds === undefined) return [...errors, required(at.child("maxExpirationSeconds"), "must be set")];
  const longest = isOwnSigner(signerName) ? OWN_SIGNERS_SECONDS : LONGEST_SECONDS;
  if (seconds < HOUR_SECONDS || seconds > longest) {
    const why = `must be in the range [${HOUR_SECONDS}, ${longest}]`;
    errors.push(invalid(at.child("maxExpirationSeconds"), seconds, why));
  }
  return [...errors, ...keyFaults(spec, at)];
}

/** Signers of Kubernetes itself: kubernetes.io and its subdomains. */
function isOwnSigner(name: string): boolean {
  return /(^|\.)kubernetes\.io$/.test(name.slice(0, Math.max(name.indexOf("/"), 0)));
}

/** As annotations, and every key with a domain. */
function annotationFaults(
  annotations: Readonly<Record<string, string>> | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const faults = validateAnnotations(annotations, at);
  for (const key of Object.keys(annotations ?? {})) {
    if (checkQualifiedName(key.toLowerCase()).length === 0 && !key.includes("/"))
      faults.push(invalid(at, key, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  }
  return faults;
}

/** The key of the request; in older clients, the key alone. */
function keyFaults(spec: PodCertificateRequestSpec, at: FieldPath): readonly FieldError[] {
  const { stubPKCS10Request: stub, pkixPublicKey, proofOfPossession } = spec;
  if (stub) {
    const where = at.child("stubPKCS10Request");
    const bytes = decodeBase64(stub);
    if (bytes.length > maxRequestBytes) return [tooLong(where, maxRequestBytes)];
    const key = keyOfRequest(bytes);
    if (key === undefined) return [invalid(where, undefined, "must be a valid PKCS#10 certificate signing request")];
    const both = "must be empty if stubPKCS10Request is set";
    return [
      ...(pkixPublicKey ? [invalid(at.child("pkixPublicKey"), undefined, both)] : []),
      ...(proofOfPossession ? [invalid(at.child("proofOfPossession"), undefined, both)] : []),
      ...typeFaults(key, where),
    ];
  }
  const where = at.child("pkixPublicKey");
  const bytes = decodeBase64(pkixPublicKey ?? "");
  if (bytes.length > maxRequestBytes) return [tooLong(where, maxRequestBytes)];
  if (decodeBase64(proofOfPossession ?? "").length > maxRequestBytes)
    return [tooLong(at.child("proofOfPossession"), maxRequestBytes)];
  return typeFaults(bytes, where);
}

function typeFaults(key: Uint8Array, where: FieldPath): readonly FieldError[] {
  const parsed = parsePublicKey(key);
  const shown = encodeBase64(key);
  if (parsed === undefined) return [invalid(where, shown, "must be a valid PKIX-serialized public key")];
  switch (parsed.type) {
    case "Ed25519":
      return [];
    case "ECDSA":
      return parsed.curve === "P-224"
        ? [invalid(where, `curve ${parsed.curve}`, "elliptic public keys must use curve P256 or P384")]
        : [];
    case "RSA":
      return parsed.bits === 3072 || parsed.bits === 4096
        ? []
        : [invalid(where, `${parsed.bits}-bit modulus`, "RSA keys must have modulus size 3072 or 4096")];
    default:
      return [invalid(where, shown, "unknown public key type; supported types are Ed25519, ECDSA, and RSA")];
  }
}

/** A write of the status decides the request, once. */
export function validateIssued(
  next: PodCertificateRequest,
  old: PodCertificateRequest,
  path: FieldPath,
): readonly FieldError[] {
  const at = path.child("status");
  const status = next.status ?? {};
  const conditions = status.conditions ?? [];
  const faults = [...decisionFaults(status, at), ...validateConditions(conditions, at.child("conditions"))];
  if (faults.length > 0) return faults;
  const fixed = (why: string) => (same(status, old.status ?? {}) ? [] : [invalid(at, undefined, why)]);
  if (isAny(old.status, decisive)) return fixed("immutable after PodCertificateRequest is issued, denied, or failed");
  if (isAny(status, ["Denied", "Failed"])) {
    const why = "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
    return same(status, { conditions }) ? [] : [invalid(at, undefined, why)];
  }
  if (isAny(status, ["Issued"])) return issuedFaults(status, old.spec, at);
  return fixed('status is immutable unless transitioning to "Issued", "Denied", or "Failed"');
}

function decisionFaults({ conditions = [] }: PodCertificateRequestStatus, at: FieldPath): readonly FieldError[] {
  let decisions = 0;
  return conditions.flatMap(({ type, status }, i) => {
    // Kubernetes writes the index as a name of its own.
    const where = at.child("conditions", `[${i}]`);
    if (!decisive.includes(type)) return [notSupported(where.child("type"), type, decisive)];
    decisions++;
    const several = 'There may be at most one condition with type "Issued", "Denied", or "Failed"';
    return [
      ...(decisions > 1 ? [invalid(where.child("type"), type, several)] : []),
      ...(status === "True" ? [] : [notSupported(where.child("status"), status, ["True"])]),
    ];
  });
}

function isAny(status: PodCertificateRequestStatus | undefined, types: readonly string[]): boolean {
  return (status?.conditions ?? []).some(({ type, status }) => types.includes(type) && status === "True");
}
