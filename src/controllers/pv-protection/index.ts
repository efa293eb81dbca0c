/** A bound PersistentVolume that is deleted stays until its claim is gone. */
import { kinds } from "#api";
import { changesOf, defineController } from "../runtime/index.ts";
import { protection, withFinalizer, withoutFinalizer } from "./protection.ts";

export { protection, withFinalizer, withoutFinalizer } from "./protection.ts";

const FINALIZER = "kubernetes.io/pv-protection";

export const volumeProtection = defineController({
  name: "persistentvolume-protection-controller",
  account: "pv-protection-controller",
  bind({ cache }) {
    const volumes = cache(kinds.PersistentVolume);
    return {
      sources: [changesOf(kinds.PersistentVolume, ({ type }) => type !== "deleted")],
      reconcile(key) {
        const volume = volumes.get(key);
        if (volume === undefined) return undefined;
        const wanted = protection(volume, FINALIZER);
        if (wanted === "add") return { steps: [[withFinalizer(kinds.PersistentVolume, volume, FINALIZER)]] };
        if (wanted === "nothing" || volume.status?.phase === "Bound") return undefined;
        return { steps: [[withoutFinalizer(kinds.PersistentVolume, volume, FINALIZER)]] };
      },
    };
  },
});
