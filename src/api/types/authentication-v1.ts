/** Written by scripts/api-types.ts: not to be edited. */
import type { Int64 } from "../machinery/json/json.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";

export interface BoundObjectReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}

export interface SelfSubjectReview {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly status?: SelfSubjectReviewStatus;
}

export interface SelfSubjectReviewStatus {
  readonly userInfo?: UserInfo;
}

export interface TokenRequest {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: TokenRequestSpec;
  readonly status?: TokenRequestStatus;
}

export interface TokenRequestSpec {
  readonly audiences?: readonly string[];
  readonly expirationSeconds?: Int64;
  readonly boundObjectRef?: BoundObjectReference;
}

export interface TokenRequestStatus {
  readonly token?: string;
  readonly expirationTimestamp?: string;
}

export interface TokenReview {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: TokenReviewSpec;
  readonly status?: TokenReviewStatus;
}

export interface TokenReviewSpec {
  readonly token: string;
  readonly audiences?: readonly string[];
}

export interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: UserInfo;
  readonly audiences?: readonly string[];
  readonly error?: string;
}

export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
