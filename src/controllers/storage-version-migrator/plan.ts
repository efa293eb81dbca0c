/**
 * The steps of a migration, as its status shows them.
 *
 *     waiting ──► Running ──► Running, resourceVersion ──► Succeeded
 *                    └──────────────┴────────────────────► Failed
 *
 * 1. Of the migrations of one resource, one runs at a time: the oldest of those that wait is next.
 * 2. The end is one write: no migration has ended and still runs.
 */
import { formatTime, instantOf, optional, type storagemigration } from "#api";
import type { Plan } from "../runtime/index.ts";

export type Migration = storagemigration.StorageVersionMigration;
type Condition = NonNullable<NonNullable<Migration["status"]>["conditions"]>[number];

/** `message`: why it failed. */
export type Outcome = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** What is to be done next: `start`, `note` the revision, `write` the objects. Undefined: it waits, or it is over. */
export function nextStep(migration: Migration, all: readonly Migration[]): "start" | "note" | "write" | undefined {
  if (isOver(migration)) return undefined;
  if (isRunning(migration)) return migration.status?.resourceVersion ? "write" : "note";
  const open = all.filter((other) => isSameResource(other, migration) && !isOver(other));
  if (open.some(isRunning)) return undefined;
  return open.some((other) => isBefore(other, migration)) ? undefined : "start";
}

export function isOver(migration: Migration): boolean {
  return isTrue(migration, "Succeeded") || isTrue(migration, "Failed");
}

export function isSameResource(one: Migration, other: Migration): boolean {
  const [{ group: a = "", resource: b } = {}, { group: c = "", resource: d } = {}] = [
    one.spec?.resource,
    other.spec?.resource,
  ];
  return a === c && b === d;
}

export function startPlan(migration: Migration, now: number): Plan {
  const running = conditionAt(now, {
    type: "Running",
    reason: "MigrationRunning",
    message: "The migration is running",
  });
  return withConditions(migration, [running]);
}

/** The revision up to which objects are to be written again: later ones are written as they should be. */
export function notedPlan(migration: Migration, resourceVersion: string): Plan {
  return written({ ...migration, status: { ...migration.status, resourceVersion } });
}

export function endPlan(migration: Migration, outcome: Outcome, now: number): Plan {
  const completed = conditionAt(now, {
    type: "Running",
    status: "False",
    reason: "MigrationCompleted",
    message: "Migration completed",
    observedGeneration: migration.metadata.generation ?? 0,
  });
  const end = outcome.ok
    ? { type: "Succeeded", reason: "StorageVersionMigrationSucceeded", message: "" }
    : { type: "Failed", reason: "StorageVersionMigrationFailed", message: outcome.message };
  return withConditions(migration, [completed, conditionAt(now, end)]);
}

function conditionAt(
  now: number,
  facts: Omit<Condition, "lastTransitionTime" | "status"> & Partial<Condition>,
): Condition {
  return { status: "True", lastTransitionTime: formatTime(instantOf(now)), ...facts };
}

function withConditions(migration: Migration, fresh: readonly Condition[]): Plan {
  const types = new Set(fresh.map(({ type }) => type));
  const kept = (migration.status?.conditions ?? []).filter(({ type }) => !types.has(type));
  return written({ ...migration, status: { ...migration.status, conditions: [...kept, ...fresh] } });
}

function written(object: Migration): Plan {
  return { steps: [[{ verb: "updateStatus", resource: optional.StorageVersionMigration, object }]] };
}

function isBefore({ metadata: one }: Migration, { metadata: other }: Migration): boolean {
  const [a = "", b = ""] = [one.creationTimestamp, other.creationTimestamp];
  return a === b ? (one.name ?? "") < (other.name ?? "") : a < b;
}

function isRunning(migration: Migration): boolean {
  return isTrue(migration, "Running");
}

function isTrue({ status }: Migration, wanted: string): boolean {
  return (status?.conditions ?? []).some(({ type, status }) => type === wanted && status === "True");
}
