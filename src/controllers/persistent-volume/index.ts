/**
 * Binds PersistentVolumeClaims to PersistentVolumes, and reclaims volumes.
 *
 *     claim  --► planClaim  ──► claimRef of the volume ══► volumeName of the claim ══► the claim's status
 *     volume --► planVolume ──► its phase, its reclaim policy
 *
 * A key with a slash is a claim, one without is a volume. One worker: concurrent claims would often want the same
 * volume.
 */
import { hasStorageClass, isStatusError, kinds, storageClassOf } from "#api";
import { objectKey } from "#client";
import { type Controller, defineController, keysFrom } from "../runtime/index.ts";
import { fits } from "./best-volume.ts";
import {
  BIND_COMPLETED,
  claimKeyOf,
  classOfVolume,
  defaultClass,
  delaysBinding,
  has,
  type Volume,
  type VolumeClaim,
} from "./facts.ts";
import { planClaim } from "./plan-claim.ts";
import { planVolume } from "./plan-volume.ts";
import { claimKeysOf } from "./pod-claims.ts";

export type { Volume, VolumeClaim } from "./facts.ts";
export { claimKeysOf } from "./pod-claims.ts";

/** A name that no class has. */
const WITHOUT_CLASS = "/";

export interface BinderOptions {
  /** `--enable-dynamic-provisioning`. Default: true. */
  readonly dynamicProvisioning?: boolean | undefined;
}

export const persistentVolumeBinder = ({ dynamicProvisioning = true }: BinderOptions = {}): Controller =>
  defineController({
    name: "persistentvolume-binder-controller",
    account: "persistent-volume-binder",
    reportsAs: "persistentvolume-controller",
    concurrency: 1,
    bind({ cache, client }) {
      const volumes = cache(kinds.PersistentVolume);
      const claims = cache(kinds.PersistentVolumeClaim);
      const classes = cache(kinds.StorageClass);
      const pods = cache(kinds.Pod);
      const volumesFor = volumes.index("claim", claimKeysOfVolume);
      const freeOf = volumes.index("free, by class", (volume) =>
        volume.spec?.claimRef === undefined ? [classOfVolume(volume)] : [],
      );
      const unboundOf = claims.index("unbound, by class", (claim) =>
        has(claim, BIND_COMPLETED) ? [] : [hasStorageClass(claim) ? storageClassOf(claim) : WITHOUT_CLASS],
      );
      const asking = claims.index("volume", ({ spec }) => (spec?.volumeName === undefined ? [] : [spec.volumeName]));
      const podsWith = pods.index("claims", claimKeysOf);

      /** Claims that an available volume could satisfy. A claim without a class needs a volume without one. */
      const interested = (volume: Volume) => {
        const name = classOfVolume(volume);
        return [...unboundOf(name), ...(name === "" ? unboundOf(WITHOUT_CLASS) : [])].filter((claim) =>
          fits(volume, claim, true),
        );
      };
      const classKeys = (name: string) => [...unboundOf(name), ...unboundOf(WITHOUT_CLASS)].map(objectKey);

      const viewOf = (claim: VolumeClaim, key: string) => {
        const storageClass = classes.get(storageClassOf(claim));
        const { volumeName = "" } = claim.spec ?? {};
        return {
          claim,
          storageClass,
          dynamicProvisioning,
          defaultClass: hasStorageClass(claim) ? undefined : defaultClass(classes.list()),
          named: volumeName === "" ? undefined : volumes.get(volumeName),
          candidates: [...volumesFor(key), ...(delaysBinding(storageClass) ? [] : freeOf(storageClassOf(claim)))],
          waitingPods: podsWith(key)
            .filter(({ spec, status }) => (spec?.nodeName ?? "") === "" && !isOver(status?.phase))
            .map(({ metadata }) => metadata.name ?? ""),
        };
      };

      /** The cache may be stale, and a volume that is released too early is lost: the API server is asked. */
      const claimOf = async (volume: Volume, signal: AbortSignal): Promise<VolumeClaim | undefined> => {
        const { name = "", namespace = "", uid } = volume.spec?.claimRef ?? {};
        const cached = claims.get(`${namespace}/${name}`);
        if (cached?.metadata.uid === uid) return cached;
        const { phase } = volume.status ?? {};
        if (cached === undefined && (phase === "Released" || phase === "Failed")) return undefined;
        try {
          const live = await client.of(kinds.PersistentVolumeClaim).in(namespace).get(name, { signal });
          return live.metadata.uid === uid ? live : undefined;
        } catch (error) {
          if (isStatusError(error) && error.reason === "NotFound") return undefined;
          throw error;
        }
      };

      return {
        sources: [
          keysFrom(kinds.PersistentVolume, ({ object }) => [
            objectKey(object),
            ...claimKeysOfVolume(object),
            ...[...asking(object.metadata.name ?? ""), ...interested(object)].map(objectKey),
          ]),
          keysFrom(kinds.PersistentVolumeClaim, ({ object }) => [
            objectKey(object),
            ...volumesFor(objectKey(object)).map(objectKey),
          ]),
          keysFrom(kinds.StorageClass, ({ object }) => classKeys(object.metadata.name ?? "")),
          keysFrom(kinds.Pod, ({ object, old }) => {
            if (old !== undefined || (object.spec?.nodeName ?? "") !== "") return [];
            return claimKeysOf(object).filter((key) => isUndecided(claims.get(key)));
          }),
        ],
        async reconcile(key, _now, signal) {
          if (key.includes("/")) {
            const claim = claims.get(key);
            return claim && planClaim(viewOf(claim, key));
          }
          const volume = volumes.get(key);
          if (volume === undefined) return undefined;
          const uid = volume.spec?.claimRef?.uid ?? "";
          return planVolume(volume, uid === "" ? undefined : await claimOf(volume, signal));
        },
      };

      function isUndecided(claim: VolumeClaim | undefined): boolean {
        if (claim === undefined || has(claim, BIND_COMPLETED)) return false;
        return delaysBinding(classes.get(storageClassOf(claim)));
      }
    },
  });

function claimKeysOfVolume(volume: Volume): readonly string[] {
  const key = claimKeyOf(volume);
  return key === undefined ? [] : [key];
}

function isOver(phase: string | undefined): boolean {
  return phase === "Succeeded" || phase === "Failed";
}
