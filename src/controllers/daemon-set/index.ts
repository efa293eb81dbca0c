/** DaemonSets: one Pod on each eligible node. */
import { equalJson, type Json, type KubeObject, kinds, matcherOfSelector } from "#api";
import { objectKey } from "#client";
import { adoption, claim, isStillThere, ownedIndexes, release } from "../pods/index.ts";
import { changesOf, controllerKey, controllerOf, defineController, keysFrom, type Plan } from "../runtime/index.ts";
import { type DaemonSet as Daemons, daemonSpec, KIND } from "./daemon-pod.ts";
import { FailureBackoff } from "./failure-backoff.ts";
import { type Fit, type Node as NodeObject, nodeFit } from "./node-fit.ts";
import { planDaemonSet } from "./plan.ts";

const OWNER = { group: "apps", kind: "DaemonSet" };

export const daemonSetController = defineController({
  name: "daemonset-controller",
  account: "daemon-set-controller",
  bind({ cache, client, clock }) {
    const sets = cache(kinds.DaemonSet);
    const nodes = cache(kinds.Node);
    const revisions = cache(kinds.ControllerRevision);
    const ofPods = ownedIndexes(cache(kinds.Pod));
    const ofRevisions = ownedIndexes(revisions);
    const failures = new FailureBackoff(clock);
    const fits = fitsBySet();

    const keysOf = (object: KubeObject): readonly string[] => {
      const key = controllerKey(object, OWNER);
      if (key !== undefined) return [key];
      if (controllerOf(object) !== undefined) return [];
      return sets
        .inNamespace(object.metadata.namespace ?? "")
        .filter(({ spec }) => matcherOfSelector(spec?.selector).matches(object.metadata.labels))
        .map(objectKey);
    };
    const keyed = ({ object, old }: { object: KubeObject; old?: KubeObject | undefined }) => [
      ...new Set([object, ...(old === undefined ? [] : [old])].flatMap(keysOf)),
    ];

    return {
      sources: [
        changesOf(kinds.DaemonSet),
        keysFrom(kinds.Pod, keyed),
        keysFrom(kinds.ControllerRevision, keyed),
        keysFrom(kinds.Node, ({ type, object, old }) => {
          if (type === "updated" && samePlace(object, old)) return [];
          const before = type === "added" ? undefined : old;
          const after = type === "deleted" ? undefined : object;
          return sets
            .list()
            .filter((set) => !sameFit(before && fits(set)(before), after && fits(set)(after)))
            .map(objectKey);
        }),
      ],
      async reconcile(key, now): Promise<Plan | undefined> {
        const set = sets.get(key);
        if (set === undefined) return undefined;
        const { uid = "", namespace = "" } = set.metadata;
        const selector = matcherOfSelector(set.spec?.selector);
        const pods = claim(set, selector, [...ofPods.byController(uid), ...ofPods.withoutController(namespace)]);
        const kept = claim(set, selector, [
          ...ofRevisions.byController(uid),
          ...ofRevisions.withoutController(namespace),
        ]);
        const adopts = pods.adopt.length + kept.adopt.length > 0;
        // The set is deleted or terminating, which the cache does not show yet: it must not replace Pods that it lost.
        if (adopts && !(await isStillThere(client, kinds.DaemonSet, set))) return undefined;
        const settled = [
          ...pods.adopt.map((pod) => adoption(kinds.Pod, pod, set, KIND)),
          ...kept.adopt.map((revision) => adoption(kinds.ControllerRevision, revision, set, KIND)),
          ...pods.release.map((pod) => release(kinds.Pod, pod, set)),
        ];
        // Adoption and release come first; the next run continues from there.
        if (settled.length > 0) return { steps: [settled] };
        const failureKey = (node: string) => `${uid}/${node}`;
        const { failed, ...plan } = planDaemonSet(
          set,
          pods.owned,
          {
            nodes: nodes.list(),
            fitOf: fits(set),
            revisions: [...kept.owned, ...kept.release],
            findRevision: (name) => revisions.get(`${namespace}/${name}`),
            failureWaitMs: (node) => failures.waitMs(failureKey(node)),
          },
          now,
        );
        for (const node of failed) failures.failed(failureKey(node));
        return plan;
      },
    };
  },
});

/** Compiled once for each version of a set. */
function fitsBySet(): (set: Daemons) => (node: NodeObject) => Fit {
  const compiled = new WeakMap<Daemons, (node: NodeObject) => Fit>();
  return (set) => {
    let fit = compiled.get(set);
    if (fit === undefined) {
      fit = nodeFit(daemonSpec(set));
      compiled.set(set, fit);
    }
    return fit;
  };
}

/** Whether a node's eligibility is unchanged. Most updates are heartbeats. */
function samePlace(a: NodeObject, b: NodeObject): boolean {
  const place = ({ metadata, spec }: NodeObject) =>
    ({ labels: metadata.labels ?? {}, taints: spec?.taints ?? [] }) as unknown as Json;
  return equalJson(place(a), place(b));
}

function sameFit(a: Fit | undefined, b: Fit | undefined): boolean {
  return (a?.runs ?? false) === (b?.runs ?? false) && (a?.stays ?? false) === (b?.stays ?? false);
}
