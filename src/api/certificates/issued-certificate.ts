/** What the status of an issued PodCertificateRequest must say: a chain for the requested key, and its times. */
import { type FieldError, type FieldPath, invalid, required } from "../machinery/errors/field-error.ts";
import { decodeBase64 } from "../machinery/scalars/base64.ts";
import { parseTime, toMs } from "../machinery/scalars/time.ts";
import type { PodCertificateRequestSpec, PodCertificateRequestStatus } from "../types/certificates-v1beta1.ts";
import { type Certificate, keyOfRequest, parseCertificate, pemBlocks, wrapped } from "./x509.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export function issuedFaults(
  status: PodCertificateRequestStatus,
  spec: PodCertificateRequestSpec,
  at: FieldPath,
): readonly FieldError[] {
  const chainAt = at.child("certificateChain");
  const chain = status.certificateChain ?? "";
  const leaf = leafOf(chain);
  if (typeof leaf === "string") return [invalid(chainAt, chain, leaf)];
  const names = leaf.dnsNames.flatMap((name) => nameFaults(name).map((why) => invalid(chainAt, name, why)));
  if (names.length > 0) return names;
  if (!sameBytes(wrapped({ content: leaf.publicKey }), requestedKey(spec)))
    return [invalid(chainAt, chain, "leaf certificate was not issued to the requested public key")];
  return timeFaults(status, leaf, spec, at);
}

function leafOf(chain: string): Certificate | string {
  const [first, ...others] = pemBlocks(chain);
  if (first === undefined) return "issued certificate chain must contain at least one certificate";
  if ([first, ...others].some(({ type }) => type !== "CERTIFICATE"))
    return "issued certificate chain must consist entirely of CERTIFICATE PEM blocks";
  const leaf = first.bytes && parseCertificate(first.bytes);
  if (leaf === undefined) return "leaf certificate does not parse as valid X.509";
  if (others.some(({ bytes }) => bytes === undefined || parseCertificate(bytes) === undefined))
    return "intermediate certificate does not parse as valid X.509";
  return leaf;
}

function nameFaults(name: string): readonly string[] {
  return [
    ...(name === "" ? ["leaf certificate should not contain empty DNSName"] : []),
    ...(name.includes("..") ? ["leaf certificate's DNSName should not contain '..'"] : []),
    ...(name.startsWith(".") || name.endsWith(".")
      ? ["leaf certificate's DNSName should not start or end with '.'"]
      : []),
  ];
}

function requestedKey({ stubPKCS10Request: stub, pkixPublicKey }: PodCertificateRequestSpec): Uint8Array | undefined {
  return stub ? keyOfRequest(decodeBase64(stub)) : decodeBase64(pkixPublicKey ?? "");
}

function timeFaults(
  { notBefore, notAfter, beginRefreshAt }: PodCertificateRequestStatus,
  leaf: Certificate,
  { maxExpirationSeconds: longest = 0 }: PodCertificateRequestSpec,
  at: FieldPath,
): readonly FieldError[] {
  const consistent = "must be present and consistent with the issued certificate";
  const absent: FieldError[] = [];
  if (!notBefore) absent.push(required(at.child("notBefore"), consistent));
  if (!notAfter) absent.push(required(at.child("notAfter"), consistent));
  if (!beginRefreshAt)
    absent.push(
      required(at.child("beginRefreshAt"), "must be present and in the range [notbefore+10min, notafter-10min]"),
    );
  if (!notBefore || !notAfter || !beginRefreshAt) return absent;
  const [from, to, refresh] = [notBefore, notAfter, beginRefreshAt].map((time) => toMs(parseTime(time)));
  if (from !== leaf.notBefore) {
    const why = "must be set to the NotBefore time encoded in the leaf certificate";
    return [invalid(at.child("notBefore"), notBefore, why)];
  }
  if (to !== leaf.notAfter) {
    const why = "must be set to the NotAfter time encoded in the leaf certificate";
    return [invalid(at.child("notAfter"), notAfter, why)];
  }
  const lifetimeMs = leaf.notAfter - leaf.notBefore;
  const chainAt = at.child("certificateChain");
  if (lifetimeMs < HOUR_MS) return [invalid(chainAt, lifetimeMs, "leaf certificate lifetime must be >= 1 hour")];
  if (lifetimeMs > longest * 1000) {
    const why = `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${longest})`;
    return [invalid(chainAt, lifetimeMs, why)];
  }
  const refreshAt = at.child("beginRefreshAt");
  if (refresh === undefined || refresh < leaf.notBefore + 10 * MINUTE_MS)
    return [invalid(refreshAt, beginRefreshAt, "must be at least 10 minutes after status.notBefore")];
  if (refresh > leaf.notAfter - 10 * MINUTE_MS)
    return [invalid(refreshAt, beginRefreshAt, "must be at least 10 minutes before status.notAfter")];
  return [];
}

function sameBytes(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i]);
}
