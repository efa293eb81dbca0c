/** The cluster's CA as these controllers see it; the caller that has its key implements it. */
import type { certificates } from "#api";

export type SigningRequest = certificates.CertificateSigningRequest;

/** The names in a request. */
export interface RequestedNames {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
}

export interface SignOptions {
  /** Whose key signs. */
  readonly signerName: string;
  /** `client auth`, `digital signature`, … */
  readonly usages: readonly string[];
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface CertificateSigner {
  /** Whether it has a key for a signer. Default: for all. */
  signs?(signerName: string): boolean;
  /** `request`: the DER of a PKCS#10 request. Throws if it is invalid, or not signed with its own key. */
  read(request: Buffer): RequestedNames;
  /** The certificate as PEM. It never outlives the CA. */
  sign(request: Buffer, options: SignOptions): string;
}

export const KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet";
export const KUBELET_SERVING = "kubernetes.io/kubelet-serving";
export const API_CLIENT = "kubernetes.io/kube-apiserver-client";
export const LEGACY_UNKNOWN = "kubernetes.io/legacy-unknown";

/** The DER in a request's PEM. */
export function requestBytes({ spec }: SigningRequest): Buffer {
  const text = Buffer.from(spec.request, "base64").toString("latin1");
  const body = /-----BEGIN CERTIFICATE REQUEST-----([\s\S]*?)-----END CERTIFICATE REQUEST-----/.exec(text)?.[1];
  if (body === undefined) throw new Error("PEM block type must be CERTIFICATE REQUEST");
  return Buffer.from(body, "base64");
}

export function hasCondition({ status }: SigningRequest, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type);
}
