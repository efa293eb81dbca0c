/**
 * Writes all objects of a resource again, as a StorageVersionMigration asks for: each is stored in the current version
 * and with the current key.
 *
 * 1. An object is written by an apply without fields, which names its uid and resourceVersion. A conflict says that
 *    somebody else has written or deleted it since, so there is nothing left to do for it.
 * 2. A migration that was interrupted starts again: objects that are up to date are not written twice.
 */
import { isStatusError, type KubeObject, optional } from "#api";
import { type Client, type DiscoveredResource, discoverResources } from "#client";
import { changesOf, defineController, type Plan } from "../runtime/index.ts";
import { conditionPlan, type Migration, NOT_DISCOVERED, nextStep, notedPlan, UNHANDLED } from "./plan.ts";

const NAME = "storage-version-migrator-controller";

export const storageVersionMigrator = defineController({
  name: NAME,
  needs: [optional.StorageVersionMigration],
  bind({ cache, client, clock, log }) {
    const migrations = cache(optional.StorageVersionMigration);
    return {
      sources: [changesOf(optional.StorageVersionMigration)],
      async reconcile(key, now, signal): Promise<Plan | undefined> {
        const migration = migrations.get(key);
        const step = migration && nextStep(migration);
        if (migration === undefined || step === undefined) return undefined;
        if (step === "start") return conditionPlan(migration, "Running", now);
        const resource = await discovered(client, migration, signal);
        if (resource === undefined) return conditionPlan(migration, "Failed", now, NOT_DISCOVERED);
        if (step === "note") {
          const { metadata } = await client.metadataOf(resource).list({ limit: 1, signal });
          return notedPlan(migration, metadata.resourceVersion);
        }
        try {
          await writeAll(client, resource, signal);
        } catch (error) {
          if (signal.aborted) throw error;
          log.warn("a storage version migration failed", { migration: key, error });
          return conditionPlan(migration, "Failed", clock.now(), UNHANDLED);
        }
        return conditionPlan(migration, "Succeeded", clock.now());
      },
    };
  },
});

/** Undefined: no version of the resource is served, or its objects cannot be listed and written. */
async function discovered(
  client: Client,
  { spec }: Migration,
  signal: AbortSignal,
): Promise<DiscoveredResource | undefined> {
  const { group = "", resource = "" } = spec?.resource ?? {};
  const { resources } = await discoverResources(client, { signal });
  return resources.find(
    (each) =>
      each.group === group && each.plural === resource && each.verbs.includes("list") && each.verbs.includes("patch"),
  );
}

async function writeAll(client: Client, resource: DiscoveredResource, signal: AbortSignal): Promise<void> {
  for await (const object of client.metadataOf(resource).each({ signal }))
    await writeOne(client, resource, object, signal);
}

async function writeOne(
  client: Client,
  resource: DiscoveredResource,
  { metadata }: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const { name = "", namespace, uid = "", resourceVersion = "" } = metadata;
  const all = client.of(resource);
  const objects = namespace === undefined ? all : all.in(namespace);
  try {
    await objects.apply({ metadata: { name, uid, resourceVersion } }, { fieldManager: NAME, signal });
  } catch (error) {
    if (!isStatusError(error, "Conflict") && !isStatusError(error, "NotFound")) throw error;
  }
}
