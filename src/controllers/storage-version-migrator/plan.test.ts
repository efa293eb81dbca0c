import { describe, expect, it } from "vitest";
import { type apiextensions, optional } from "#api";
import { endPatch, startPatch } from "./definition.ts";
import { endPlan, type Migration, nextStep, notedPlan, type Outcome, startPlan } from "./plan.ts";

const TIME = "2030-01-01T00:00:00Z";
const NOW = Date.parse(TIME);
const EARLIER = "2029-01-01T00:00:00Z";

const is = (type: string, status = "True") => ({ type, status, reason: "R", message: "", lastTransitionTime: EARLIER });
interface Facts {
  readonly created?: string;
  readonly resource?: string;
  readonly conditions?: readonly string[];
  readonly resourceVersion?: string;
}
const migration = (name: string, { created = TIME, resource = "widgets", ...status }: Facts = {}): Migration => ({
  metadata: { name, creationTimestamp: created, generation: 1 },
  spec: { resource: { group: "example.com", resource } },
  status: {
    ...(status.resourceVersion !== undefined && { resourceVersion: status.resourceVersion }),
    ...(status.conditions !== undefined && { conditions: status.conditions.map((type) => is(type)) }),
  },
});

describe("the next step of a migration", () => {
  it.each<{ name: string; facts?: Facts; others?: readonly Migration[]; want: string | undefined }>([
    { name: "new", want: "start" },
    { name: "running", facts: { conditions: ["Running"] }, want: "note" },
    { name: "with a revision", facts: { conditions: ["Running"], resourceVersion: "7" }, want: "write" },
    { name: "succeeded", facts: { conditions: ["Succeeded"], resourceVersion: "7" }, want: undefined },
    { name: "failed", facts: { conditions: ["Failed"] }, want: undefined },
    { name: "while another runs", others: [migration("z", { conditions: ["Running"] })], want: undefined },
    {
      name: "while one of another resource runs",
      others: [migration("z", { conditions: ["Running"], resource: "gadgets" })],
      want: "start",
    },
    { name: "after another has ended", others: [migration("z", { conditions: ["Succeeded"] })], want: "start" },
    { name: "behind an older one", others: [migration("z", { created: EARLIER })], want: undefined },
    { name: "of the same age, by name: first", others: [migration("z")], want: "start" },
    { name: "of the same age, by name: last", others: [migration("a")], want: undefined },
  ])("$name: $want", ({ facts, others = [], want }) => {
    const own = migration("m", facts);
    expect(nextStep(own, [...others, own])).toBe(want);
  });
});

describe("the status of a migration", () => {
  const resource = optional.StorageVersionMigration;
  const running = migration("m", { conditions: ["Running", "Other"], resourceVersion: "7" });
  const completed = {
    type: "Running",
    status: "False",
    reason: "MigrationCompleted",
    message: "Migration completed",
    lastTransitionTime: TIME,
    observedGeneration: 1,
  };

  it.each([
    {
      name: "started",
      plan: startPlan(migration("m"), NOW),
      want: {
        conditions: [
          {
            type: "Running",
            status: "True",
            reason: "MigrationRunning",
            message: "The migration is running",
            lastTransitionTime: TIME,
          },
        ],
      },
    },
    {
      name: "with its revision",
      plan: notedPlan(migration("m", { conditions: ["Running"] }), "7"),
      want: { resourceVersion: "7", conditions: [is("Running")] },
    },
    {
      name: "succeeded",
      plan: endPlan(running, { ok: true }, NOW),
      want: {
        resourceVersion: "7",
        conditions: [
          is("Other"),
          completed,
          {
            type: "Succeeded",
            status: "True",
            reason: "StorageVersionMigrationSucceeded",
            message: "",
            lastTransitionTime: TIME,
          },
        ],
      },
    },
    {
      name: "failed",
      plan: endPlan(running, { ok: false, message: "why" }, NOW),
      want: {
        resourceVersion: "7",
        conditions: [
          is("Other"),
          completed,
          {
            type: "Failed",
            status: "True",
            reason: "StorageVersionMigrationFailed",
            message: "why",
            lastTransitionTime: TIME,
          },
        ],
      },
    },
  ])("$name", ({ plan, want }) => {
    expect(plan.steps).toMatchObject([[{ verb: "updateStatus", resource }]]);
    expect(plan.steps?.[0]?.[0]?.object).toMatchObject({ metadata: { name: "m" }, status: want });
  });
});

describe("the definition of what is migrated", () => {
  const definition = (conditions: readonly object[] = []): apiextensions.CustomResourceDefinition =>
    ({
      metadata: { name: "widgets.example.com", generation: 4, resourceVersion: "9" },
      spec: { versions: ["v1", "v2"].map((name) => ({ name, served: true, storage: name === "v2" })) },
      status: { conditions: [is("Established"), ...conditions], storedVersions: ["v1", "v2"] },
    }) as unknown as apiextensions.CustomResourceDefinition;
  const migrating = (observedGeneration?: number) => ({
    ...is("StorageMigrating"),
    ...(observedGeneration !== undefined && { observedGeneration }),
  });
  const condition = (status: string, reason: string, message: string) => ({
    type: "StorageMigrating",
    status,
    reason,
    message,
    lastTransitionTime: TIME,
    observedGeneration: 4,
  });

  it("says which migration runs, in which generation", () => {
    expect(startPatch(definition([migrating(3)]), "m", NOW)).toEqual({
      metadata: { resourceVersion: "9" },
      status: { conditions: [is("Established"), condition("True", "MigrationRunning", "Migration m is running")] },
    });
  });

  const succeeded = "The migration has succeeded";
  const mismatch = `${succeeded} but the stored versions have not been updated due to a generation mismatch`;
  it.each<{ name: string; before: readonly object[]; outcome: Outcome; message: string; stored?: readonly string[] }>([
    {
      name: "succeeded",
      before: [migrating(4)],
      outcome: { ok: true },
      message: `${succeeded} and the stored versions have been updated`,
      stored: ["v2"],
    },
    { name: "succeeded, but was changed meanwhile", before: [migrating(3)], outcome: { ok: true }, message: mismatch },
    { name: "succeeded, but never marked", before: [], outcome: { ok: true }, message: mismatch },
    { name: "succeeded, without a generation", before: [migrating()], outcome: { ok: true }, message: mismatch },
    {
      name: "failed",
      before: [migrating(4)],
      outcome: { ok: false, message: "why" },
      message: "The migration has failed",
    },
  ])("$name", ({ before, outcome, message, stored }) => {
    const reason = outcome.ok ? "MigrationSucceeded" : "MigrationFailed";
    expect(endPatch(definition(before), outcome, NOW)).toEqual({
      metadata: { resourceVersion: "9" },
      status: {
        conditions: [is("Established"), condition("False", reason, message)],
        ...(stored !== undefined && { storedVersions: stored }),
      },
    });
  });
});
