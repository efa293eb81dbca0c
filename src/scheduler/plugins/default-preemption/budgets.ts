/** Splits pods by whether their eviction would violate a PodDisruptionBudget, in the given order. */
import type { policy } from "#api";
import type { PodInfo } from "../../framework/index.ts";
import { matcher } from "../../snapshot/index.ts";

export function splitByBudgets(
  pods: readonly PodInfo[],
  budgets: readonly policy.PodDisruptionBudget[],
): { readonly violating: readonly PodInfo[]; readonly others: readonly PodInfo[] } {
  if (budgets.length === 0) return { violating: [], others: pods };
  const left = budgets.map(({ metadata, spec, status }) => ({
    namespace: metadata.namespace,
    selector: matcher(spec?.selector),
    disrupted: status?.disruptedPods ?? {},
    allowed: status?.disruptionsAllowed ?? 0,
  }));
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) {
    let violates = false;
    const hasLabels = Object.keys(pod.labels.labels).length > 0;
    for (const budget of hasLabels ? left : []) {
      const { namespace, selector, disrupted } = budget;
      const isEmpty = selector.nothing || selector.requirements.length === 0;
      if (namespace !== pod.namespace || isEmpty || !selector.matches(pod.labels.labels)) continue;
      // The API server has counted its eviction already.
      if (Object.hasOwn(disrupted, pod.name)) continue;
      budget.allowed -= 1;
      if (budget.allowed < 0) violates = true;
    }
    (violates ? violating : others).push(pod);
  }
  return { violating, others };
}
