/** The public surface of storagemigration.k8s.io. */
import type { Kind } from "../machinery/kind.ts";
import { StorageVersionMigration } from "./storage-version-migration.ts";

export { StorageVersionMigration };

export const storagemigrationKinds: readonly Kind[] = [StorageVersionMigration];
