/** Deployments: roll out templates by ReplicaSets. */
import { kinds, matcherOfSelector } from "#api";
import { objectKey } from "#client";
import { adoption, claim, isFinished, isStillThere, ownedIndexes, release } from "../pods/index.ts";
import { changesOf, controllerKey, controllerOf, defineController, keysFrom, type Plan } from "../runtime/index.ts";
import { isRolling } from "./limits.ts";
import { planDeployment } from "./plan.ts";

const KIND = { apiVersion: "apps/v1", kind: "Deployment" };
const OWNER = { group: "apps", kind: "Deployment" };
const SET_OWNER = { group: "apps", kind: "ReplicaSet" };

export const deploymentController = defineController({
  name: "deployment-controller",
  bind({ cache, client }) {
    const deployments = cache(kinds.Deployment);
    const sets = cache(kinds.ReplicaSet);
    const pods = cache(kinds.Pod);
    const ofDeployment = ownedIndexes(sets);
    const podsOf = ownedIndexes(pods).byController;

    const keysOfSet = (set: Parameters<typeof controllerOf>[0]): readonly string[] => {
      const key = controllerKey(set, OWNER);
      if (key !== undefined) return [key];
      if (controllerOf(set) !== undefined) return [];
      return deployments
        .inNamespace(set.metadata.namespace ?? "")
        .filter(({ spec }) => matcherOfSelector(spec?.selector).matches(set.metadata.labels))
        .map(objectKey);
    };

    return {
      sources: [
        changesOf(kinds.Deployment),
        keysFrom(kinds.ReplicaSet, ({ object, old }) => [
          ...new Set([object, ...(old === undefined ? [] : [old])].flatMap(keysOfSet)),
        ]),
        // Only Recreate depends on Pods: it waits for the last one to be gone.
        keysFrom(kinds.Pod, ({ type, object }) => {
          if (type !== "deleted" && !isFinished(object)) return [];
          const set = sets.get(controllerKey(object, SET_OWNER) ?? "");
          const key = set === undefined ? undefined : controllerKey(set, OWNER);
          const deployment = key === undefined ? undefined : deployments.get(key);
          return key === undefined || deployment === undefined || isRolling(deployment) ? [] : [key];
        }),
      ],
      async reconcile(key, now): Promise<Plan | undefined> {
        const deployment = deployments.get(key);
        if (deployment === undefined) return undefined;
        const { uid = "", namespace = "" } = deployment.metadata;
        const candidates = [...ofDeployment.byController(uid), ...ofDeployment.withoutController(namespace)];
        const claimed = claim(deployment, matcherOfSelector(deployment.spec?.selector), candidates);
        // The Deployment is deleted or terminating, which the cache does not show yet: it must not replace lost
        // ReplicaSets.
        if (claimed.adopt.length > 0 && !(await isStillThere(client, kinds.Deployment, deployment))) return undefined;
        if (claimed.adopt.length > 0 || claimed.release.length > 0) {
          // Adoption and release come first; the next run continues from there.
          return {
            steps: [
              [
                ...claimed.adopt.map((set) => adoption(kinds.ReplicaSet, set, deployment, KIND)),
                ...claimed.release.map((set) => release(kinds.ReplicaSet, set, deployment)),
              ],
            ],
          };
        }
        return planDeployment(
          deployment,
          claimed.owned,
          {
            hasPods: ({ metadata }) => podsOf(metadata.uid ?? "").some((pod) => !isFinished(pod)),
            isTaken: (name) => sets.get(`${namespace}/${name}`) !== undefined,
          },
          now,
        );
      },
    };
  },
});
