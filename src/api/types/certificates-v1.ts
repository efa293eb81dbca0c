/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { ListMeta } from "./meta-v1.ts";

export interface CertificateSigningRequest {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: CertificateSigningRequestSpec;
  readonly status?: CertificateSigningRequestStatus;
}

export interface CertificateSigningRequestCondition {
  readonly type: string;
  readonly status: string;
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
  readonly signerName: string;
  readonly expirationSeconds?: number;
  readonly usages?: readonly (
    | "any"
    | "cert sign"
    | "client auth"
    | "code signing"
    | "content commitment"
    | "crl sign"
    | "data encipherment"
    | "decipher only"
    | "digital signature"
    | "email protection"
    | "encipher only"
    | "ipsec end system"
    | "ipsec tunnel"
    | "ipsec user"
    | "key agreement"
    | "key encipherment"
    | "microsoft sgc"
    | "netscape sgc"
    | "ocsp signing"
    | "s/mime"
    | "server auth"
    | "signing"
    | "timestamping"
  )[];
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface CertificateSigningRequestStatus {
  readonly conditions?: readonly CertificateSigningRequestCondition[];
  readonly certificate?: string;
}
