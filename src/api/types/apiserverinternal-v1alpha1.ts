/** Written by scripts/api-types.ts: not to be edited. */
import type { Int64 } from "../machinery/json/json.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { ListMeta } from "./meta-v1.ts";

export interface ServerStorageVersion {
  readonly apiServerID: string;
  readonly encodingVersion: string;
  readonly decodableVersions: readonly string[];
  readonly servedVersions?: readonly string[];
}

export interface StorageVersion {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: StorageVersionSpec;
  readonly status?: StorageVersionStatus;
}

export interface StorageVersionCondition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: Int64;
  readonly lastTransitionTime?: string;
  readonly reason: string;
  readonly message: string;
}

export interface StorageVersionList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly StorageVersion[];
}

export type StorageVersionSpec = Readonly<Record<string, never>>;

export interface StorageVersionStatus {
  readonly storageVersions?: readonly ServerStorageVersion[];
  readonly commonEncodingVersion?: string;
  readonly conditions?: readonly StorageVersionCondition[];
}
