/** Releases deleted volumes that nothing is attached to any more. */
import { kinds } from "#api";
import { type Controller, changesOf, defineController, keysFrom } from "#controllers";
import { hasFinalizer, removeFinalizer } from "../calls/volumes.ts";
import { attacherFinalizer } from "./plan.ts";

export const attachedVolumeProtection = (driverName: string, account: string): Controller =>
  defineController({
    name: "csi-attached-volume-protection",
    account,
    bind({ cache }) {
      const volumes = cache(kinds.PersistentVolume);
      const attachments = cache(kinds.VolumeAttachment);
      const attachmentsOf = attachments.index("volume", ({ spec }) => [spec.source.persistentVolumeName ?? ""]);
      const finalizer = attacherFinalizer(driverName);
      return {
        sources: [
          changesOf(kinds.PersistentVolume, ({ object }) => object.metadata.deletionTimestamp !== undefined),
          keysFrom(kinds.VolumeAttachment, ({ type, object }) =>
            type === "deleted" ? [object.spec.source.persistentVolumeName ?? ""] : [],
          ),
        ],
        reconcile(key) {
          const object = volumes.get(key);
          if (object?.metadata.deletionTimestamp === undefined || !hasFinalizer(object, finalizer)) return undefined;
          if (attachmentsOf(key).length > 0) return undefined;
          const patch = removeFinalizer(finalizer);
          return { steps: [[{ verb: "patch", resource: kinds.PersistentVolume, object, patch }]] };
        },
      };
    },
  });
