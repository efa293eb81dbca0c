/** Written by scripts/api-types.ts: not to be edited. */
import type { Json } from "../machinery/json/json.ts";
import type { UserInfo } from "./authentication-v1.ts";
import type { GroupVersionKind, GroupVersionResource, Status } from "./meta-v1.ts";

export interface AdmissionRequest {
  readonly uid?: string;
  readonly kind?: GroupVersionKind;
  readonly resource?: GroupVersionResource;
  readonly subResource?: string;
  readonly requestKind?: GroupVersionKind;
  readonly requestResource?: GroupVersionResource;
  readonly requestSubResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation?: string;
  readonly userInfo?: UserInfo;
  readonly object?: Json;
  readonly oldObject?: Json;
  readonly dryRun?: boolean;
  readonly options?: Json;
}

export interface AdmissionResponse {
  readonly uid?: string;
  readonly allowed?: boolean;
  readonly status?: Status;
  readonly patch?: string;
  readonly patchType?: string;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
}

export interface AdmissionReview {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly request?: AdmissionRequest;
  readonly response?: AdmissionResponse;
}
