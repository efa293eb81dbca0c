/**
 * Removes API servers that are gone from StorageVersions.
 *
 *     identity Lease deleted --► StorageVersions that name the server ──► without it ══► status, or deleted
 */
import { kinds, optional } from "#api";
import { changesOf, defineController, keysFrom } from "../runtime/index.ts";
import { planStorageVersion } from "./plan.ts";

const NAMESPACE = "kube-system";
/** What the lease of an API server is labelled with. */
const IDENTITY_LABEL = "apiserver.kubernetes.io/identity";

export const storageVersionGc = defineController({
  name: "storageversion-garbage-collector-controller",
  account: "storage-version-garbage-collector",
  needs: [optional.StorageVersion],
  concurrency: 1,
  bind({ cache }) {
    const versions = cache(optional.StorageVersion);
    const leases = cache(kinds.Lease);
    const isServer = (id: string) =>
      leases.get(`${NAMESPACE}/${id}`)?.metadata.labels?.[IDENTITY_LABEL] === "kube-apiserver";
    return {
      sources: [
        changesOf(optional.StorageVersion),
        keysFrom(kinds.Lease, ({ type, object: { metadata } }) => {
          if (type !== "DELETED" || metadata.namespace !== NAMESPACE) return [];
          if (metadata.labels?.[IDENTITY_LABEL] === undefined) return [];
          return [...versions.values()]
            .filter(({ status }) => status?.storageVersions?.some(({ apiServerID }) => apiServerID === metadata.name))
            .map((version) => version.metadata.name ?? "");
        }),
      ],
      reconcile: (key, now) => {
        const version = versions.get(key);
        return version === undefined ? undefined : planStorageVersion(version, isServer, now);
      },
    };
  },
});
