/**
 * Writes all objects of a resource again, as a StorageVersionMigration asks for: each is stored in the current version
 * and with the current key.
 *
 * 1. A migration that was interrupted starts again: objects that were written since its revision are left alone.
 * 2. A resource that is not served may be new: it is looked for again until the migration is a minute old.
 */
import { type apiextensions, isStatusError, type JsonObject, kinds, optional, parseTime, toMs } from "#api";
import { changesOf, defineController, keysFrom, type Plan } from "../runtime/index.ts";
import { endPatch, startPatch } from "./definition.ts";
import { findResource, IllFormedError, isPassing, isWellFormed, resourceText, unfit, writeAll } from "./objects.ts";
import {
  endPlan,
  isOver,
  isSameResource,
  type Migration,
  nextStep,
  notedPlan,
  type Outcome,
  startPlan,
} from "./plan.ts";

const NAME = "storage-version-migrator-controller";
const SEARCH_MS = 60_000;
const SEARCH_AGAIN_MS = 5_000;
const UNHANDLED = "migration encountered unhandled error";

export const storageVersionMigrator = defineController({
  name: NAME,
  gates: ["StorageVersionMigrator"],
  needs: [optional.StorageVersionMigration],
  bind({ cache, client, clock, log }) {
    const migrations = cache(optional.StorageVersionMigration);
    const definitions = client.of(kinds.CustomResourceDefinition);

    const patchDefinition = async (
      { spec }: Migration,
      patchOf: (definition: apiextensions.CustomResourceDefinition) => JsonObject,
      signal: AbortSignal,
    ): Promise<void> => {
      const { group = "", resource = "" } = spec?.resource ?? {};
      const name = `${resource}.${group}`;
      try {
        const object = patchOf(await definitions.get(name, { signal }));
        await definitions.subresource(name, "status").patch({ type: "merge", object }, { signal });
      } catch (error) {
        // A resource without a definition.
        if (!isStatusError(error, "NotFound")) throw error;
      }
    };
    const end = async (migration: Migration, outcome: Outcome, signal: AbortSignal): Promise<Plan> => {
      const now = clock.now();
      await patchDefinition(migration, (definition) => endPatch(definition, outcome, now), signal);
      return endPlan(migration, outcome, now);
    };
    const fail = (migration: Migration, message: string, signal: AbortSignal) =>
      end(migration, { ok: false, message }, signal);

    const note = async (migration: Migration, now: number, signal: AbortSignal): Promise<Plan> => {
      const found = await findResource(client, migration, signal);
      if (found.kind !== "resource") {
        if (found.kind === "unknown" || mayAppear(migration, now)) return { againAfterMs: SEARCH_AGAIN_MS };
        return fail(migration, "resource does not exist in discovery", signal);
      }
      const { resource } = found;
      const why = unfit(resource);
      if (why !== undefined) return fail(migration, why, signal);
      const { resourceVersion } = (await client.metadataOf(resource).list({ limit: 1, signal })).metadata;
      if (isWellFormed(resourceVersion)) return notedPlan(migration, resourceVersion);
      const { message } = new IllFormedError(resourceVersion);
      return fail(migration, `latest resourceVersion for ${resourceText(resource)} is not valid: ${message}`, signal);
    };
    const write = async (migration: Migration, now: number, signal: AbortSignal): Promise<Plan> => {
      const found = await findResource(client, migration, signal);
      if (found.kind !== "resource") {
        if (found.kind === "unknown" || mayAppear(migration, now)) return { againAfterMs: SEARCH_AGAIN_MS };
        return fail(migration, `${UNHANDLED}: unable to obtain GVR from discovery`, signal);
      }
      const upTo = Number(migration.status?.resourceVersion);
      try {
        await writeAll(client, { resource: found.resource, upTo, manager: NAME, signal });
      } catch (error) {
        if (signal.aborted || isPassing(error)) throw error;
        log.warn("a storage version migration failed", { migration: migration.metadata.name, error });
        return fail(migration, `${UNHANDLED}: ${(error as Error).message}`, signal);
      }
      return end(migration, { ok: true }, signal);
    };

    return {
      sources: [
        changesOf(optional.StorageVersionMigration, ({ type }) => type !== "deleted"),
        // Those that wait for this one.
        keysFrom(optional.StorageVersionMigration, ({ type, object }) => {
          if (type !== "deleted" && !isOver(object)) return [];
          const waiting = migrations.list().filter((other) => isSameResource(other, object) && !isOver(other));
          return waiting.map(({ metadata }) => metadata.name ?? "");
        }),
      ],
      async reconcile(key, now, signal) {
        const migration = migrations.get(key);
        if (migration === undefined) return undefined;
        switch (nextStep(migration, migrations.list())) {
          case "start":
            await patchDefinition(migration, (definition) => startPatch(definition, key, now), signal);
            return startPlan(migration, now);
          case "note":
            return note(migration, now, signal);
          case "write":
            return write(migration, now, signal);
          default:
            return undefined;
        }
      },
    };
  },
});

function mayAppear({ metadata }: Migration, now: number): boolean {
  return now < toMs(parseTime(metadata.creationTimestamp ?? "")) + SEARCH_MS;
}
