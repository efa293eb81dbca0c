/** StatefulSets: Pods with stable names, order and volumes. */
import { type KubeObject, kinds, matcherOfSelector } from "#api";
import { objectKey } from "#client";
import { adoption, claim, isStillThere, ownedIndexes, release } from "../pods/index.ts";
import { changesOf, controllerKey, controllerOf, defineController, keysFrom, type Plan } from "../runtime/index.ts";
import { KIND, nameOf, ordinalOf, parentName } from "./identity.ts";
import { planStatefulSet } from "./plan.ts";

const OWNER = { group: "apps", kind: "StatefulSet" };

export const statefulSetController = defineController({
  name: "statefulset-controller",
  bind({ cache, client }) {
    const sets = cache(kinds.StatefulSet);
    const claims = cache(kinds.PersistentVolumeClaim);
    const revisions = cache(kinds.ControllerRevision);
    const ofPods = ownedIndexes(cache(kinds.Pod));
    const ofRevisions = ownedIndexes(revisions);
    /** The prefixes of its claims' names. */
    const byClaims = sets.index("claims", (set) =>
      (set.spec?.volumeClaimTemplates ?? []).map(
        (template) => `${set.metadata.namespace}/${nameOf(template)}-${nameOf(set)}`,
      ),
    );
    const keyed =
      (keys: (object: KubeObject) => readonly string[]) =>
      (change: { object: KubeObject; old?: KubeObject | undefined }) => [
        ...new Set([change.object, ...(change.old === undefined ? [] : [change.old])].flatMap(keys)),
      ];

    return {
      sources: [
        changesOf(kinds.StatefulSet),
        keysFrom(
          kinds.Pod,
          keyed((pod) => {
            const key = controllerKey(pod, OWNER);
            if (key !== undefined) return [key];
            const parent = controllerOf(pod) === undefined ? parentName(pod) : undefined;
            return parent === undefined ? [] : [`${pod.metadata.namespace}/${parent}`];
          }),
        ),
        keysFrom(
          kinds.ControllerRevision,
          keyed((revision) => {
            const key = controllerKey(revision, OWNER);
            return key === undefined ? [] : [key];
          }),
        ),
        keysFrom(
          kinds.PersistentVolumeClaim,
          keyed((each) => byClaims(objectKey(each).replace(/-\d+$/, "")).map(objectKey)),
        ),
      ],
      async reconcile(key, now): Promise<Plan | undefined> {
        const set = sets.get(key);
        if (set === undefined) return undefined;
        const { uid = "", namespace = "" } = set.metadata;
        const selector = matcherOfSelector(set.spec?.selector);
        const pods = claim(
          set,
          selector,
          [...ofPods.byController(uid), ...ofPods.withoutController(namespace)],
          (pod) => ordinalOf(set, pod) !== undefined,
        );
        const kept = claim(set, selector, [
          ...ofRevisions.byController(uid),
          ...ofRevisions.withoutController(namespace),
        ]);
        const adopts = pods.adopt.length + kept.adopt.length > 0;
        // The set is deleted or terminating, which the cache does not show yet: it must not replace lost Pods.
        if (adopts && !(await isStillThere(client, kinds.StatefulSet, set))) return undefined;
        const settled = [
          ...pods.adopt.map((pod) => adoption(kinds.Pod, pod, set, KIND)),
          ...kept.adopt.map((revision) => adoption(kinds.ControllerRevision, revision, set, KIND)),
          ...pods.release.map((pod) => release(kinds.Pod, pod, set)),
        ];
        // Adoption and release come first; the next run continues from there.
        if (settled.length > 0) return { steps: [settled] };
        return planStatefulSet(
          set,
          pods.owned,
          {
            revisions: [...kept.owned, ...kept.release],
            findRevision: (name) => revisions.get(`${namespace}/${name}`),
            findClaim: (each) => claims.get(objectKey(each)),
          },
          now,
        );
      },
    };
  },
});
