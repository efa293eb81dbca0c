/** Match conditions: whether a webhook or a policy applies to a request. */
import { celLimits } from "../../machinery/cel/libraries/index.ts";
import { aggregate } from "../../machinery/errors/field-error.ts";
import { type Activation, CostBudgetError } from "./activation.ts";
import type { Expression } from "./compile.ts";

export type Matched = { readonly matches: boolean } | { readonly error: string };

/**
 * A condition that is false decides, whatever the others are. Otherwise a condition that fails leaves the decision to
 * the failure policy: the request is refused, or the webhook or policy is skipped.
 */
export function matchConditions(
  conditions: readonly Expression[],
  activation: Activation,
  failurePolicy: "Fail" | "Ignore",
): Matched {
  const faults: string[] = [];
  let remaining: number = celLimits.matchConditions;
  let excluded = false;
  try {
    for (const condition of conditions) {
      const evaluated = activation.evaluate(condition, remaining);
      remaining = evaluated.remaining;
      if (!evaluated.ok) faults.push(evaluated.error);
      else if (evaluated.value !== true) excluded = true;
    }
  } catch (error) {
    if (!(error instanceof CostBudgetError)) throw error;
    return failurePolicy === "Ignore" ? { matches: false } : { error: error.message };
  }
  if (excluded) return { matches: false };
  if (faults.length === 0) return { matches: true };
  return failurePolicy === "Ignore" ? { matches: false } : { error: aggregate(faults) };
}
