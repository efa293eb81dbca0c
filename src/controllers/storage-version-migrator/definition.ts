/**
 * A migration in the status of the CustomResourceDefinition whose objects it writes.
 *
 * 1. Versions are taken from `storedVersions` only if the definition is what it was when the migration began: else
 *    objects may have been stored in another version meanwhile.
 * 2. They stay if it failed: some objects may still be stored in them. Kubernetes takes them away then, too.
 * 3. Each patch names the resourceVersion that it was made for.
 */
import { type apiextensions, formatTime, instantOf, type JsonObject } from "#api";
import type { Outcome } from "./plan.ts";

type Definition = apiextensions.CustomResourceDefinition;

const TYPE = "StorageMigrating";

export function startPatch(definition: Definition, migration: string, now: number): JsonObject {
  return statusPatch(definition, now, {
    status: "True",
    reason: "MigrationRunning",
    message: `Migration ${migration} is running`,
  });
}

export function endPatch(definition: Definition, { ok }: Outcome, now: number): JsonObject {
  const { metadata, spec, status } = definition;
  const seen = status?.conditions?.find(({ type }) => type === TYPE)?.observedGeneration;
  const isSame = seen !== undefined && String(seen) === String(metadata.generation);
  const stored = isSame ? spec.versions.find(({ storage }) => storage)?.name : undefined;
  const about = isSame
    ? "and the stored versions have been updated"
    : "but the stored versions have not been updated due to a generation mismatch";
  const facts = ok
    ? { status: "False", reason: "MigrationSucceeded", message: `The migration has succeeded ${about}` }
    : { status: "False", reason: "MigrationFailed", message: "The migration has failed" };
  return statusPatch(definition, now, facts, ok && stored !== undefined ? { storedVersions: [stored] } : {});
}

function statusPatch(
  { metadata, status }: Definition,
  now: number,
  facts: { readonly status: string; readonly reason: string; readonly message: string },
  more: JsonObject = {},
): JsonObject {
  const others = (status?.conditions ?? []).filter(({ type }) => type !== TYPE);
  const condition = {
    type: TYPE,
    ...facts,
    lastTransitionTime: formatTime(instantOf(now)),
    observedGeneration: metadata.generation ?? 0,
  };
  return {
    metadata: { resourceVersion: metadata.resourceVersion ?? "" },
    status: { conditions: [...others, condition] as unknown as JsonObject[], ...more },
  };
}
