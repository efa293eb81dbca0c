/**
 * Removes API servers that are gone from StorageVersions.
 *
 *     identity Lease deleted --► StorageVersions that name the server ──► without it ══► status, or deleted
 *     StorageVersion changed --► ↑
 *
 * 1. A server whose Lease the cache does not show may be new: the Lease is asked for before its entry is removed.
 */
import { isStatusError, kinds, optional } from "#api";
import { changesOf, defineController, keysFrom } from "../runtime/index.ts";
import { isIdentity, planStorageVersion, serversOf } from "./plan.ts";

const NAMESPACE = "kube-system";

export const storageVersionGc = defineController({
  name: "storageversion-garbage-collector-controller",
  account: "storage-version-garbage-collector",
  gates: ["APIServerIdentity", "StorageVersionAPI"],
  needs: [optional.StorageVersion],
  concurrency: 1,
  bind({ cache, client }) {
    const versions = cache(optional.StorageVersion);
    const naming = versions.index("server", serversOf);
    const leases = cache(kinds.Lease);
    const stored = client.of(kinds.Lease).in(NAMESPACE);
    const lives = async (id: string, signal: AbortSignal) => {
      const cached = leases.get(`${NAMESPACE}/${id}`);
      if (cached !== undefined) return isIdentity(cached);
      try {
        return isIdentity(await stored.get(id, { signal }));
      } catch (error) {
        if (isStatusError(error, "NotFound")) return false;
        throw error;
      }
    };
    return {
      sources: [
        changesOf(optional.StorageVersion, ({ type }) => type !== "deleted"),
        keysFrom(kinds.Lease, ({ type, object }) => {
          const { namespace, name = "" } = object.metadata;
          if (type !== "deleted" || namespace !== NAMESPACE || !isIdentity(object)) return [];
          return naming(name).map(({ metadata }) => metadata.name ?? "");
        }),
      ],
      async reconcile(key, now, signal) {
        const version = versions.get(key);
        if (version === undefined) return undefined;
        const living = new Set<string>();
        for (const id of serversOf(version)) if (await lives(id, signal)) living.add(id);
        return planStorageVersion(version, living, now);
      },
    };
  },
});
