/**
 * The steps of a migration, as its status shows them.
 *
 *     no resourceVersion ──► resourceVersion ──► Running ──► Succeeded
 *            └──► Failed (no such resource)         └──► Failed (a write)
 */
import { formatTime, instantOf, optional, type storagemigration } from "#api";
import type { Plan } from "../runtime/index.ts";

export type Migration = storagemigration.StorageVersionMigration;
type Condition = NonNullable<NonNullable<Migration["status"]>["conditions"]>[number];

const REASONS = {
  Running: "StorageVersionMigrationInProgress",
  Succeeded: "StorageVersionMigrationSucceeded",
  Failed: "StorageVersionMigrationFailed",
} as const;

export const NOT_DISCOVERED = "resource does not exist in discovery";
export const UNHANDLED = "migration encountered unhandled error";

/** What is to be done next: `note` the revision, `start`, `write` the objects; undefined: it is over. */
export function nextStep(migration: Migration): "note" | "start" | "write" | undefined {
  if (isTrue(migration, "Succeeded") || isTrue(migration, "Failed")) return undefined;
  if (!migration.status?.resourceVersion) return "note";
  return isTrue(migration, "Running") ? "write" : "start";
}

export function notedPlan(migration: Migration, resourceVersion: string): Plan {
  return written({ ...migration, status: { ...migration.status, resourceVersion } });
}

/** With this condition; a migration that is over is not running any more. */
export function conditionPlan(migration: Migration, type: keyof typeof REASONS, now: number, message = ""): Plan {
  const condition: Condition = {
    type,
    status: "True",
    lastTransitionTime: formatTime(instantOf(now)),
    reason: REASONS[type],
    message,
  };
  const conditions = (migration.status?.conditions ?? [])
    .filter((each) => each.type !== type)
    .map((each) => (each.type === "Running" && type !== "Running" ? { ...each, status: "False" } : each));
  return written({
    ...migration,
    status: { ...migration.status, conditions: [...conditions, condition] },
  } as Migration);
}

function written(object: Migration): Plan {
  return { steps: [[{ verb: "updateStatus", resource: optional.StorageVersionMigration, object }]] };
}

function isTrue({ status }: Migration, wanted: string): boolean {
  return (status?.conditions ?? []).some(({ type, status }) => type === wanted && status === "True");
}
