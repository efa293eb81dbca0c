/** Binds the plan for replicas to the caches, for ReplicaSets and ReplicationControllers. */
import { type KubeObject, kinds, type LabelMatcher } from "#api";
import { objectKey, type ResourceOf } from "#client";
import { adoption, claim, isEnding, isStillThere, ownedIndexes, type Pod, release } from "../pods/index.ts";
import { type Controller, changesOf, controllerOf, defineController, keysFrom, type Plan } from "../runtime/index.ts";
import { planReplicas, type Replicated, selects } from "./plan.ts";

export interface ReplicaControllerOptions<T extends KubeObject> {
  readonly name: string;
  readonly account: string;
  readonly resource: ResourceOf<T>;
  readonly group: string;
  readonly kind: string;
  selectorOf(object: T): LabelMatcher;
  replicated(object: T): Replicated;
}

export function replicaController<T extends KubeObject>(options: ReplicaControllerOptions<T>): Controller {
  const { name, account, resource, group, kind, selectorOf, replicated } = options;
  return defineController({
    name,
    account,
    bind({ cache, client }) {
      const sets = cache(resource);
      const pods = cache(kinds.Pod);
      const { byController, withoutController } = ownedIndexes(pods);
      const siblingsOf = siblingCounter(sets, byController);

      /** Sets that may adopt a Pod without a controller. */
      const interested = (pod: Pod) =>
        sets
          .inNamespace(pod.metadata.namespace ?? "")
          .filter((set) => selects(selectorOf(set), pod.metadata.labels))
          .map(objectKey);

      return {
        sources: [
          changesOf(resource),
          keysFrom(kinds.Pod, ({ object, old }) => [
            ...[object, ...(old === undefined ? [] : [old])].flatMap((pod) => {
              const owner = controllerOf(pod);
              if (owner === undefined) return interested(pod);
              const isOurs = owner.kind === kind && owner.apiVersion.split("/").slice(0, -1).join("/") === group;
              return isOurs ? [`${pod.metadata.namespace}/${owner.name}`] : [];
            }),
          ]),
        ],
        async reconcile(key, now): Promise<Plan | undefined> {
          const set = sets.get(key);
          if (set === undefined) return undefined;
          const wanted = replicated(set);
          const candidates = [
            ...byController(set.metadata.uid ?? ""),
            ...withoutController(set.metadata.namespace ?? ""),
          ];
          const { owned, adopt, release: leave } = claim(set, selectorOf(set), candidates, (pod) => !isEnding(pod));
          // The set is deleted or terminating, which the cache does not show yet: it must not replace lost Pods.
          if (adopt.length > 0 && !(await isStillThere(client, resource, set))) return undefined;
          if (adopt.length === 0 && leave.length === 0) return planReplicas(wanted, owned, siblingsOf(set), now);
          // Adoption and release come first; the next run counts.
          return {
            steps: [
              [
                ...adopt.map((pod) => adoption(kinds.Pod, pod, set, wanted.kind)),
                ...leave.map((pod) => release(kinds.Pod, pod, set)),
              ],
            ],
          };
        },
      };
    },
  });
}

/** Active Pods of the same Deployment, or else of the same set, on a Pod's node. */
function siblingCounter<T extends KubeObject>(
  sets: { inNamespace(namespace: string): readonly T[] },
  byController: (uid: string) => readonly Pod[],
): (set: T) => (pod: Pod) => number {
  return (set) => {
    let counts: Map<string, number> | undefined;
    return (pod) => {
      counts ??= countByNode(related(set).flatMap(({ metadata }) => byController(metadata.uid ?? "")));
      return counts.get(pod.spec?.nodeName ?? "") ?? 0;
    };
  };

  function related(set: T): readonly T[] {
    const owner = controllerOf(set)?.uid;
    if (owner === undefined) return [set];
    return sets.inNamespace(set.metadata.namespace ?? "").filter((other) => controllerOf(other)?.uid === owner);
  }
}

function countByNode(pods: readonly Pod[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const node = pod.spec?.nodeName ?? "";
    if (node !== "" && !isEnding(pod)) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return counts;
}
