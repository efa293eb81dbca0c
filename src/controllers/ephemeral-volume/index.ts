/**
 * Makes the claims of Pods that bring their volumes with them. That a claim goes with its Pod is the garbage collector's.
 *
 *     Pods, claims that were deleted --► key of a Pod ──► planVolumes ══► PersistentVolumeClaims
 */
import { objectKey } from "#client";
import { isEnding } from "../pods/index.ts";
import { defineController, keysFrom, PersistentVolumeClaim, Pod } from "../runtime/index.ts";
import { claimNames, hasOwnVolumes, planVolumes } from "./plan.ts";

export const ephemeralVolumeController = defineController({
  name: "ephemeral-volume-controller",
  reportsAs: "ephemeral_volume",
  bind({ cache }) {
    const pods = cache(Pod);
    const claims = cache(PersistentVolumeClaim);
    const byClaim = pods.index("ephemeralClaim", (pod) =>
      claimNames(pod).map((name) => `${pod.metadata.namespace}/${name}`),
    );
    return {
      sources: [
        // What a Pod's volumes are does not change.
        keysFrom(Pod, ({ type, object }) => (type === "added" && hasOwnVolumes(object) ? [objectKey(object)] : [])),
        keysFrom(PersistentVolumeClaim, ({ type, object }) =>
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
