/**
 * Creates the claims of generic ephemeral volumes. The garbage collector deletes them with their Pods.
 *
 *     Pods, deleted claims --► key of a Pod ──► planVolumes ══► PersistentVolumeClaims
 */
import { kinds } from "#api";
import { objectKey } from "#client";
import { isEnding } from "../pods/index.ts";
import { defineController, keysFrom } from "../runtime/index.ts";
import { claimNames, hasOwnVolumes, planVolumes } from "./plan.ts";

export const ephemeralVolumeController = defineController({
  name: "ephemeral-volume-controller",
  reportsAs: "ephemeral_volume",
  bind({ cache }) {
    const pods = cache(kinds.Pod);
    const claims = cache(kinds.PersistentVolumeClaim);
    const byClaim = pods.index("ephemeralClaim", (pod) =>
      claimNames(pod).map((name) => `${pod.metadata.namespace}/${name}`),
    );
    return {
      sources: [
        // The volumes of a Pod are immutable.
        keysFrom(kinds.Pod, ({ type, object }) =>
          type === "added" && hasOwnVolumes(object) ? [objectKey(object)] : [],
        ),
        keysFrom(kinds.PersistentVolumeClaim, ({ type, object }) =>
          type === "deleted" ? byClaim(objectKey(object)).map(objectKey) : [],
        ),
      ],
      reconcile(key) {
        const pod = pods.get(key);
        if (pod === undefined || isEnding(pod)) return undefined;
        return planVolumes(pod, (name) => claims.get(`${pod.metadata.namespace}/${name}`));
      },
    };
  },
});
