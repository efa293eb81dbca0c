/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { Condition, GroupResource, ListMeta } from "./meta-v1.ts";

export interface StorageVersionMigration {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: StorageVersionMigrationSpec;
  readonly status?: StorageVersionMigrationStatus;
}

export interface StorageVersionMigrationList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly StorageVersionMigration[];
}

export interface StorageVersionMigrationSpec {
  readonly resource: GroupResource;
}

export interface StorageVersionMigrationStatus {
  readonly conditions?: readonly Condition[];
  readonly resourceVersion?: string;
}
