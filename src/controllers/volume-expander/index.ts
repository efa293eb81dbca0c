/**
 * Hands the expansion of volumes to the resizers of CSI drivers.
 *
 *     bound claims, when their request or capacity has grown --► planExpansion ══► annotation, Event
 */
import { compareQuantities, kinds } from "#api";
import { objectKey } from "#client";
import { changesOf, defineController, keysFrom } from "../runtime/index.ts";
import { capacityOf, isBoundTo, planExpansion, requestOf } from "./plan.ts";

export const volumeExpander = defineController({
  name: "persistentvolume-expander-controller",
  account: "expand-controller",
  reportsAs: "volume_expand",
  bind({ cache }) {
    const claims = cache(kinds.PersistentVolumeClaim);
    const volumes = cache(kinds.PersistentVolume);
    const claimsOf = claims.index("volume", ({ spec }) => (spec?.volumeName === undefined ? [] : [spec.volumeName]));
    return {
      sources: [
        changesOf(kinds.PersistentVolumeClaim, ({ type, object, old }) => {
          if (type === "deleted" || object.status?.phase !== "Bound") return false;
          if (old === undefined) return true;
          const grows = [requestOf, capacityOf].some((sizeOf) => compareQuantities(sizeOf(object), sizeOf(old)) > 0);
          return grows;
        }),
        // A claim may be seen before its volume, or before the volume is bound to it.
        keysFrom(kinds.PersistentVolume, ({ type, object, old }) => {
          if (type === "deleted" || old?.spec?.claimRef?.uid === object.spec?.claimRef?.uid) return [];
          return claimsOf(object.metadata.name ?? "").map(objectKey);
        }),
      ],
      reconcile(key) {
        const claim = claims.get(key);
        if (claim?.status?.phase !== "Bound") return undefined;
        const volume = volumes.get(claim.spec?.volumeName ?? "");
        return volume !== undefined && isBoundTo(claim, volume) ? planExpansion(claim, volume) : undefined;
      },
    };
  },
});
