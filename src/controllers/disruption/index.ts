/**
 * PodDisruptionBudgets: how many of their Pods may be evicted.
 *
 *     budgets, Pods, their owners --► key of a budget ──► planBudget ══► its status
 *     Pods                        --► key of a Pod    ──► planPod    ══► its condition, if an eviction had no effect
 */
import { equalJson, type Json, type KubeObject, kinds, matcherOfSelector } from "#api";
import { type Change, objectKey, type ResourceOf } from "#client";
import { isEnding, isFinished, isReady, ownedIndexes, type Pod as PodObject, podsByLabels } from "../pods/index.ts";
import { controllerOf, defineController, keysFrom, type Source } from "../runtime/index.ts";
import { asksOwners, type Budget } from "./budget-status.ts";
import { ownersOfPods } from "./owners.ts";
import { type Expected, planBudget, planPod, staleInMs } from "./plan.ts";

const BUDGET = "budget ";
const POD = "pod ";

export const disruptionController = defineController({
  name: "disruption-controller",
  reportsAs: "controllermanager",
  bind({ cache, client }) {
    const budgets = cache(kinds.PodDisruptionBudget);
    const pods = cache(kinds.Pod);
    const select = podsByLabels(pods);
    const owners = ownersOfPods({ cache, client });
    const { byController: podsOf } = ownedIndexes(pods);
    const { byController: setsOf } = ownedIndexes(cache(kinds.ReplicaSet));

    const budgetsOf = ({ metadata }: PodObject) =>
      budgets
        .inNamespace(metadata.namespace ?? "")
        .filter(({ spec }) => matcherOfSelector(spec?.selector).matches(metadata.labels));
    const budgetKeys = (pod: PodObject) => budgetsOf(pod).map((budget) => BUDGET + objectKey(budget));

    /** The budgets of Pods whose owner was scaled. */
    const scaledBy = <T extends KubeObject & { readonly spec?: { readonly replicas?: number } }>(
      resource: ResourceOf<T>,
      controlled: (uid: string) => readonly PodObject[],
    ): Source =>
      keysFrom(resource, ({ object, old }) => {
        if (old !== undefined && old.spec?.replicas === object.spec?.replicas) return [];
        return [...new Set(controlled(object.metadata.uid ?? "").flatMap(budgetKeys))];
      });

    const expectedFor = async (
      budget: Budget,
      matching: readonly PodObject[],
      signal: AbortSignal,
    ): Promise<Expected> =>
      asksOwners(budget) ? owners.expected(matching, signal) : { ok: true, count: matching.length, unmanaged: [] };

    return {
      sources: [
        keysFrom(kinds.PodDisruptionBudget, ({ type, object }) =>
          type === "deleted" ? [] : [BUDGET + objectKey(object)],
        ),
        keysFrom(kinds.Pod, (change) => {
          if (!mattersToBudgets(change)) return [];
          const { type, object, old = object } = change;
          const keys = new Set([...budgetKeys(object), ...budgetKeys(old)]);
          const asks = type !== "deleted" && (staleInMs(object, 0) !== undefined || keys.size > 1);
          return asks ? [...keys, POD + objectKey(object)] : [...keys];
        }),
        scaledBy(kinds.ReplicaSet, podsOf),
        scaledBy(kinds.ReplicationController, podsOf),
        scaledBy(kinds.StatefulSet, podsOf),
        scaledBy(kinds.Deployment, (uid) => setsOf(uid).flatMap(({ metadata }) => podsOf(metadata.uid ?? ""))),
      ],
      async reconcile(key, now, signal) {
        if (key.startsWith(POD)) {
          const pod = pods.get(key.slice(POD.length));
          return pod === undefined || isEnding(pod) ? undefined : planPod(pod, budgetsOf(pod), now);
        }
        const budget = budgets.get(key.slice(BUDGET.length));
        if (budget === undefined) return undefined;
        const matching = select(budget.metadata.namespace ?? "", matcherOfSelector(budget.spec?.selector));
        return planBudget(budget, matching, await expectedFor(budget, matching, signal), now);
      },
    };
  },
});

/** The parts of a Pod that are counted. */
function mattersToBudgets({ type, object, old }: Change<PodObject>): boolean {
  return type !== "updated" || !equalJson(facts(object), facts(old));
}

function facts(pod: PodObject): Json {
  const mark = pod.status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  return [
    pod.metadata.labels ?? {},
    controllerOf(pod)?.uid ?? "",
    isEnding(pod),
    isFinished(pod),
    isReady(pod),
    [mark?.status ?? "", mark?.lastTransitionTime ?? ""],
  ];
}
