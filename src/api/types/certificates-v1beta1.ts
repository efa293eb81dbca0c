/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { Condition, ListMeta } from "./meta-v1.ts";

export interface CertificateSigningRequest {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: CertificateSigningRequestSpec;
  readonly status?: CertificateSigningRequestStatus;
}

export interface CertificateSigningRequestCondition {
  readonly type: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastUpdateTime?: string;
  readonly lastTransitionTime?: string;
}

export interface CertificateSigningRequestList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly CertificateSigningRequest[];
}

export interface CertificateSigningRequestSpec {
  readonly request: string;
  readonly signerName?: string;
  readonly expirationSeconds?: number;
  readonly usages?: readonly string[];
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface CertificateSigningRequestStatus {
  readonly conditions?: readonly CertificateSigningRequestCondition[];
  readonly certificate?: string;
}

export interface ClusterTrustBundle {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ClusterTrustBundleSpec;
}

export interface ClusterTrustBundleList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly ClusterTrustBundle[];
}

export interface ClusterTrustBundleSpec {
  readonly signerName?: string;
  readonly trustBundle: string;
}

export interface PodCertificateRequest {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: PodCertificateRequestSpec;
  readonly status?: PodCertificateRequestStatus;
}

export interface PodCertificateRequestList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly PodCertificateRequest[];
}

export interface PodCertificateRequestSpec {
  readonly signerName: string;
  readonly podName: string;
  readonly podUID: string;
  readonly serviceAccountName: string;
  readonly serviceAccountUID: string;
  readonly nodeName: string;
  readonly nodeUID: string;
  readonly maxExpirationSeconds?: number;
  readonly pkixPublicKey?: string;
  readonly proofOfPossession?: string;
  readonly stubPKCS10Request: string;
  readonly unverifiedUserAnnotations?: Readonly<Record<string, string>>;
}

export interface PodCertificateRequestStatus {
  readonly conditions?: readonly Condition[];
  readonly certificateChain?: string;
  readonly notBefore?: string;
  readonly beginRefreshAt?: string;
  readonly notAfter?: string;
}
