/** The usage of a quota, counted anew from all objects of its namespace. */

import { zeroQuantity } from "../../machinery/scalars/quantity.ts";
import type { KubeObject } from "../../machinery/schema/object.ts";
import type { ResourceQuota } from "../../types/core-v1.ts";
import { addTotals, type Totals } from "../pod/resources/container-totals.ts";
import { scopesOf } from "./charge.ts";
import type { QuotaEvaluator } from "./evaluator.ts";

/** `objects`: those of the quota's namespace. Resources without an evaluator are left out. */
export function calculateUsage(
  quota: ResourceQuota,
  evaluators: Iterable<QuotaEvaluator>,
  objects: (evaluator: QuotaEvaluator) => Iterable<KubeObject>,
  now: number,
): Totals {
  const hard = Object.keys(quota.spec?.hard ?? {});
  const scopes = scopesOf(quota);
  const used: Totals = {};
  for (const evaluator of evaluators) {
    const names = evaluator.matching(hard);
    if (names.length === 0) continue;
    for (const name of names) used[name] ??= zeroQuantity;
    for (const object of objects(evaluator)) {
      if (!scopes.every((scope) => evaluator.matchesScope(scope, object))) continue;
      const usage = evaluator.usage(object, now);
      addTotals(used, Object.fromEntries(Object.entries(usage).filter(([name]) => names.includes(name))));
    }
  }
  return used;
}
