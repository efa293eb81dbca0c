/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { ListMeta } from "./meta-v1.ts";

export interface APIService {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: APIServiceSpec;
  readonly status?: APIServiceStatus;
}

export interface APIServiceCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface APIServiceList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly APIService[];
}

export interface APIServiceSpec {
  readonly service?: ServiceReference;
  readonly group?: string;
  readonly version?: string;
  readonly insecureSkipTLSVerify?: boolean;
  readonly caBundle?: string;
  readonly groupPriorityMinimum: number;
  readonly versionPriority: number;
}

export interface APIServiceStatus {
  readonly conditions?: readonly APIServiceCondition[];
}

export interface ServiceReference {
  readonly namespace?: string;
  readonly name?: string;
  readonly port?: number;
}
