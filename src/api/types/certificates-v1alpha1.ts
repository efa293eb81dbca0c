/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { ListMeta } from "./meta-v1.ts";

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
