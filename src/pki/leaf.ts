/**
 * The leaf certificates of a cluster, and the decision when one has to be reissued.
 *
 * 1. `whyIssue` is a pure function of what is on disk, what is wanted, and the time.
 * 2. A certificate that already lasts as long as its CA is not reissued for its age.
 */

import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { CertificateRequest } from "./authority.ts";

export interface ServerNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

export type AuthorityName = "ca" | "frontProxyCa";
export const LEAF_NAMES = ["apiserver", "apiserverKubeletClient", "frontProxyClient", "admin"] as const;
export type LeafName = (typeof LEAF_NAMES)[number];

export interface LeafSpec {
  /** The name of its files, without .crt and .key; kubeadm's names where it has them. */
  readonly file: string;
  readonly signedBy: AuthorityName;
  readonly request: CertificateRequest;
}

export function leafSpecs(serverNames: ServerNames): Readonly<Record<LeafName, LeafSpec>> {
  return {
    apiserver: {
      file: "apiserver",
      signedBy: "ca",
      request: { commonName: "kube-apiserver", ...serverNames, usages: ["server"] },
    },
    apiserverKubeletClient: {
      file: "apiserver-kubelet-client",
      signedBy: "ca",
      request: { commonName: "kube-apiserver-kubelet-client", organizations: ["system:masters"], usages: ["client"] },
    },
    frontProxyClient: {
      file: "front-proxy-client",
      signedBy: "frontProxyCa",
      request: { commonName: "front-proxy-client", usages: ["client"] },
    },
    admin: {
      file: "admin",
      signedBy: "ca",
      request: { commonName: "kubernetes-admin", organizations: ["system:masters"], usages: ["client"] },
    },
  };
}

export interface FoundLeaf {
  readonly certPem: string | undefined;
  readonly keyPem: string | undefined;
}

/** The reason, as the end of a sentence that begins with the file's name; undefined when all is well. */
export function whyIssue(
  found: FoundLeaf,
  request: CertificateRequest,
  ca: X509Certificate,
  now: number,
): string | undefined {
  if (found.certPem === undefined || found.keyPem === undefined) return "is missing";
  const certificate = parsed(() => new X509Certificate(found.certPem ?? ""));
  const key = parsed(() => createPrivateKey(found.keyPem ?? ""));
  if (certificate === undefined || key === undefined) return "cannot be read";
  return whyReplace(certificate, key, request, ca, now);
}

function whyReplace(
  certificate: X509Certificate,
  key: KeyObject,
  { dnsNames = [], ipAddresses = [] }: CertificateRequest,
  ca: X509Certificate,
  now: number,
): string | undefined {
  if (!certificate.checkPrivateKey(key)) return "does not belong to its key";
  if (!certificate.checkIssued(ca) || !certificate.verify(ca.publicKey)) return "was signed by another CA";
  const missing = [
    ...dnsNames.filter((name) => certificate.checkHost(name, { subject: "never" }) === undefined),
    ...ipAddresses.filter((address) => certificate.checkIP(address) === undefined),
  ];
  if (missing.length > 0) return `is not valid for ${missing.join(", ")}`;
  if (now < certificate.validFromDate.getTime()) return "is not valid yet";
  if (now >= renewalTime(certificate, ca)) return `expires on ${certificate.validTo}`;
  return undefined;
}

/** When less than a third of its lifetime is left. */
export function renewalTime(certificate: X509Certificate, ca: X509Certificate): number {
  const from = certificate.validFromDate.getTime();
  const to = certificate.validToDate.getTime();
  return to < ca.validToDate.getTime() ? to - (to - from) / 3 : Number.POSITIVE_INFINITY;
}

function parsed<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined; // A damaged certificate is a reason to reissue it, not an error.
  }
}
